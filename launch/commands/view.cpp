// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/commands.h"
#include "launch/runs/run_options.h"
#include "launch/system/amount.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "launch/view/moment.h"
#include "launch/view/picture_pdf.h"
#include "launch/view/recording_file.h"
#include "launch/view/still_picture.h"
#include "launch/view/view_page.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct ViewOptions {
  std::string run, out, svg, pdf;
  std::optional<std::string> at;
  bool json = false, quiet = false;
};

/// Where the page goes if nothing is said: beside the recording.
std::string page_name(const std::string& run) {
  fs::path file = run;
  if (file.extension() == ".gz") file.replace_extension();
  return file.replace_extension(".html").string();
}

/// What is to be written: the page, or one picture or both.
struct OutFile {
  const char* option;
  std::string name;
  OutKind kind;
};

std::vector<OutFile> files_of(const ViewOptions& o) {
  std::vector<OutFile> files;
  if (!o.svg.empty()) files.push_back({"--svg", o.svg, OutKind::picture});
  if (!o.pdf.empty()) files.push_back({"--pdf", o.pdf, OutKind::sheet});
  if (files.empty() && !o.json)
    files.push_back({"-o", o.out.empty() ? page_name(o.run) : o.out, OutKind::page});
  return files;
}

/// What of the command line is wrong; empty: nothing.
std::string wrong_options(const ViewOptions& o, const std::vector<OutFile>& files) {
  const bool still = o.json || files.front().kind != OutKind::page;
  if (o.at && !still) return "--at: of a still picture; give --svg FILE, --pdf FILE or --json";
  if (still && !o.out.empty()) return "-o is for the page; give it without --svg, --pdf and --json";
  for (const OutFile& file : files) {
    const char* const end = file.kind == OutKind::picture ? ".svg" : ".pdf";
    if (file.kind != OutKind::page && fs::path(file.name).extension() != end)
      return std::string(file.option) + ": '" + file.name + "' must end in " + end;
    if (const Status good = check_out_file(file.name, file.kind); !good)
      return std::string(file.option) + ": " + good.error().message;
  }
  return "";
}

int view(const ViewOptions& o) {
  const std::vector<OutFile> files = files_of(o);
  if (const std::string wrong = files.empty() ? "" : wrong_options(o, files); !wrong.empty())
    return bad_input("view: " + wrong);
  if (files.empty() && !o.out.empty()) return bad_input("view: -o is for the page; give no --json");
  const auto at = o.at ? parse_duration(*o.at) : Result<Duration>(Duration{0});
  if (!at) return bad_input("view: --at: " + at.error().message);
  const auto read = read_recording(o.run);
  if (!read) return failed(read.error());
  const Recording& recording = read.value();
  const double at_s = o.at ? seconds(at.value()) : recording.end_s / 2;
  if (at_s > recording.end_s)
    return bad_input("view: --at: the run ended after " + human_seconds(recording.end_s) +
                     "; give a time before");
  const Moment moment = moment_of(recording, at_s);
  if (o.json) std::fputs(moment_json(recording, moment).c_str(), stdout);
  for (const OutFile& file : files) {
    const bool page = file.kind == OutKind::page;
    const std::string picture = page ? "" : still_picture(recording, moment);
    const std::string text = page                            ? view_page(recording)
                             : file.kind == OutKind::picture ? picture
                                                             : picture_pdf(picture);
    if (auto written = write_text(file.name, text); !written.ok()) return failed(written.error());
    if (o.quiet) continue;
    std::fprintf(stderr, "starling: wrote %s: %s on %s, %s\n", file.name.c_str(),
                 amount(recording.jobs.size(), "job").c_str(),
                 amount(recording.topology.gpu_count(), "GPU").c_str(),
                 page ? human_seconds(recording.end_s).c_str()
                      : (human_seconds(at_s) + " after the start").c_str());
  }
  return kDone;
}

}  // namespace

void add_view(const Command& root) {
  const auto o = std::make_shared<ViewOptions>();
  const Command command =
      root.sub("view", "a page on which a recorded run plays, or a picture of one moment of it");
  command.positional("RUN", o->run,
                     "what 'sim --record', 'run --record' or 'chaos sim --record' wrote");
  command.option("-o,--out", o->out, "FILE.html", "the page (default: RUN with .html)");
  command.option("--svg", o->svg, "FILE.svg", "a still picture instead");
  command.option("--pdf", o->pdf, "FILE.pdf", "the same as PDF");
  command.option("--at", o->at, "TIME",
                 "of the picture, or of --json: 90s, 36h, 2d after the start (default: half way)");
  command.flag("--json", o->json, "which jobs run where and which wait at that time, on stdout");
  command.flag("-q,--quiet", o->quiet, "nothing on stderr");
  command.examples(
      {"starling view run.json", "starling view run.json --svg run.svg --pdf run.pdf --at 36h"});
  command.action([o] { return view(*o); });
}

}  // namespace starling
