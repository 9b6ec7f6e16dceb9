// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/out_file.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "workload/text/text_file.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct KnownKind {
  const char* name;
  std::string_view start;
  std::string_view mark;  ///< stands behind it, where others' files begin so too
};

// In the order of OutKind.
constexpr KnownKind kKinds[] = {
    {"picture of Starling's", "<svg xmlns=\"http://www.w3.org/2000/svg\"", ""},
    {"page of Starling's", "<!doctype html>", "<script id=\"data\" type=\"application/json\">"},
    {"list of Starling's verdicts",
     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"starling ", ""},
    {"table of 'starling pack'", "policy,step,event,pod,node,gpus,", ""},
    {"table of 'starling profile'", "campaign,gpu,model_a,batch_a,model_b,batch_b,", ""},
    {"file of weights", "STRLNETS", ""},
    {"page of 'starling reproduce'", "# Published figures, made again", ""},
    {"picture of Starling's", "%PDF-1.4\n% a picture of starling view", ""},
    {"recording of a run", "{\"starling_recording\":", ""},
};

Error wrong(const std::string& file, const std::string& what) {
  return {Errc::invalid, file + ": " + what + ", or give another name"};
}

/// Nothing is there that could be lost.
bool is_free(const std::string& file) {
  std::error_code error;
  return !fs::exists(file, error) ||
         (fs::is_regular_file(file, error) && fs::is_empty(file, error));
}

}  // namespace

Status check_out_file(const std::string& file) {
  const fs::path path = file;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    return wrong(file, "there is no folder " + folder.string() + "; make it");
  if (!fs::is_directory(folder, ignored))
    return wrong(file, folder.string() + " is no folder; move it");
  if (fs::is_directory(path, ignored)) return wrong(file, "this is a folder; name a file in it");
  if (access(folder.c_str(), W_OK) != 0)
    return wrong(file,
                 "the folder " + folder.string() + " cannot be written to; change its rights");
  return done();
}

Status check_out_file(const std::string& file, OutKind kind) {
  if (Status good = check_out_file(file); !good) return good;
  if (is_free(file)) return done();
  std::error_code ignored;
  const KnownKind& known = kKinds[static_cast<std::size_t>(kind)];
  if (fs::is_regular_file(file, ignored)) {  // a pipe would be waited for
    const auto there = read_text_file(file);
    if (there && there.value().starts_with(known.start) &&
        there.value().find(known.mark) != std::string::npos)
      return done();
  }
  return wrong(
      file, "what is there is no " + std::string(known.name) + " and would be replaced; move it");
}

Status check_edited_file(const std::string& file, const std::string& text, bool force) {
  if (Status good = check_out_file(file); !good) return good;
  std::error_code ignored;
  if (force || is_free(file) || !fs::is_regular_file(file, ignored)) return done();
  const auto there = read_text_file(file);
  if (there && there.value() == text) return done();
  return wrong(file,
               "what is there differs from this and would be replaced; give --force to do so");
}

}  // namespace starling
