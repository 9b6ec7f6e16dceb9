// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/commands.h"
#include "launch/runs/reproduction_output.h"
#include "launch/system/files.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string name, data, out;
  bool list = false, json = false, quiet = false;
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Reproduction& r : reproductions()) all.emplace_back(r.name);
  return all;
}

int show_list() {
  for (const Reproduction& r : reproductions())
    std::printf("%-14s %s\n%14s   by %s\n%14s   from %s\n", std::string(r.name).c_str(),
                std::string(r.title).c_str(), "", std::string(r.source).c_str(), "",
                std::string(r.inputs).c_str());
  return kDone;
}

/// The named one, or all.
Result<std::vector<const Reproduction*>> chosen(const std::string& name) {
  std::vector<const Reproduction*> found;
  for (const Reproduction& r : reproductions())
    if (name == "all" || name == r.name) found.push_back(&r);
  if (!found.empty()) return found;
  const std::string there = "there are " + joined(names(), ", ") + ", and all";
  if (name.empty()) return {Errc::invalid, "give a NAME; " + there};
  const auto meant = nearest(name, names());
  return {Errc::invalid, "'" + name + "' is none" +
                             (meant ? "; did you mean '" + *meant + "'" : "") + "; " + there};
}

bool is_web_page(const std::string& out) {
  return std::filesystem::path(out).extension() == ".html";
}

Status check(const Options& o) {
  if (o.data.empty())
    return {Errc::invalid, "--data FOLDER is missing: the published data, or $STARLING_DATA"};
  std::error_code ignored;
  if (!std::filesystem::is_directory(o.data, ignored))
    return {Errc::invalid, "--data: there is no folder " + o.data + "; give the published data"};
  if (o.out.empty()) return done();
  if (!is_web_page(o.out) && std::filesystem::path(o.out).extension() != ".md")
    return {Errc::invalid, "--out: '" + o.out + "' must end in .md or .html"};
  const Status good = check_out_file(o.out, is_web_page(o.out) ? OutKind::page : OutKind::compared);
  if (!good) return {good.error().code, "--out: " + good.error().message};
  return done();
}

int reproduce(Options o) {
  const std::string where = "reproduce: ";
  if (o.list) return show_list();
  const auto wanted = chosen(o.name);
  if (!wanted) return bad_input(where + wanted.error().message);
  const char* set = std::getenv("STARLING_DATA");
  if (o.data.empty() && set != nullptr) o.data = set;
  if (Status good = check(o); !good) return bad_input(where + good.error().message);

  int status = kDone;
  std::deque<ReproductionReport> reports;  // Reproduced refers to them
  std::vector<Reproduced> all;
  for (const Reproduction* what : wanted.value()) {
    ProgressBar bar(std::string(what->name), o.quiet);
    auto report =
        what->run(o.data, [&](std::uint64_t done, std::uint64_t total, const std::string& note) {
          bar.update(done, total, note);
        });
    bar.finish();
    if (!report) {  // the others of `all` are run nevertheless
      status = failed({report.error().code, where + report.error().message});
      continue;
    }
    reports.push_back(std::move(report).value());
    all.push_back({*what, reports.back()});
    if (!o.json)
      std::printf("%s%s", all.size() > 1 ? "\n" : "", reproduction_text(all.back()).c_str());
    if (!reports.back().holds() && status == kDone) status = kWorkFailed;
  }
  if (o.json) std::fputs(reproduction_json(all).c_str(), stdout);
  if (!o.out.empty() && !all.empty()) {
    const std::string page =
        is_web_page(o.out) ? reproduction_page(all) : reproduction_markdown(all);
    if (Status written = write_text(o.out, page); !written) return failed(written.error());
  }
  return status;
}

}  // namespace

void add_reproduce(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("reproduce", "published figures, made again; exit code 1 if one is off its bound");
  command.positional("NAME", o->name, "which (--list), or all", false);
  command.option("--data", o->data, "FOLDER", "the published data; default $STARLING_DATA");
  command.flag("--list", o->list, "says what there is");
  command.option("-o,--out", o->out, "PAGE", "also a page: PAGE.md or PAGE.html");
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("-q,--quiet", o->quiet, "no progress on stderr");
  command.examples({"starling reproduce --list",
                    "starling reproduce philly-week --data shared/data -o philly-week.md",
                    "starling reproduce all --data shared/data --json"});
  command.action([o] { return reproduce(*o); });
}

}  // namespace starling
