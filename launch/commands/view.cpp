// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/commands.h"
#include "launch/runs/run_options.h"
#include "launch/system/amount.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "launch/view/moment.h"
#include "launch/view/recording_file.h"
#include "launch/view/still_picture.h"
#include "launch/view/view_page.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct ViewOptions {
  std::string run, out, svg;
  std::optional<std::string> at;
  bool json = false, quiet = false;
};

/// Where the page goes if nothing is said: beside the recording.
std::string page_name(const std::string& run) {
  fs::path file = run;
  if (file.extension() == ".gz") file.replace_extension();
  return file.replace_extension(".html").string();
}

int view(const ViewOptions& o) {
  const bool still = !o.svg.empty() || o.json;
  if (o.at && !still) return bad_input("view: --at: of a still picture; give --svg FILE or --json");
  if (still && !o.out.empty())
    return bad_input("view: -o is for the page; give it without --svg and --json");
  if (!o.svg.empty() && fs::path(o.svg).extension() != ".svg")
    return bad_input("view: --svg: the picture is an SVG; '" + o.svg + "' must end in .svg");
  const std::string file = !o.svg.empty() ? o.svg : o.out.empty() ? page_name(o.run) : o.out;
  if (!o.json || !o.svg.empty()) {
    if (const Status good = check_out_file(file, o.svg.empty() ? OutKind::page : OutKind::picture);
        !good)
      return bad_input(std::string("view: ") + (o.svg.empty() ? "-o: " : "--svg: ") +
                       good.error().message);
  }
  const auto at = o.at ? parse_duration(*o.at) : Result<Duration>(Duration{0});
  if (!at) return bad_input("view: --at: " + at.error().message);
  const auto read = read_recording(o.run);
  if (!read) return failed(read.error());
  const Recording& recording = read.value();
  const double at_s = o.at ? seconds(at.value()) : recording.end_s / 2;
  if (at_s > recording.end_s)
    return bad_input("view: --at: the run ended after " + human_seconds(recording.end_s) +
                     "; give a time before");
  std::string text;
  if (still) {
    const Moment moment = moment_of(recording, at_s);
    if (o.json) std::fputs(moment_json(recording, moment).c_str(), stdout);
    if (o.svg.empty()) return kDone;
    text = still_picture(recording, moment);
  } else {
    text = view_page(recording);
  }
  if (auto written = write_text(file, text); !written.ok()) return failed(written.error());
  if (!o.quiet) {
    std::fprintf(stderr, "starling: wrote %s: %s on %s, %s\n", file.c_str(),
                 amount(recording.jobs.size(), "job").c_str(),
                 amount(recording.topology.gpu_count(), "GPU").c_str(),
                 still ? (human_seconds(at_s) + " after the start").c_str()
                       : human_seconds(recording.end_s).c_str());
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
  command.option("--at", o->at, "TIME",
                 "of the picture, or of --json: 90s, 36h, 2d after the start (default: half way)");
  command.flag("--json", o->json, "which jobs run where and which wait at that time, on stdout");
  command.flag("-q,--quiet", o->quiet, "nothing on stderr");
  command.examples({"starling view run.json", "starling view run.json --svg run.svg --at 36h"});
  command.action([o] { return view(*o); });
}

}  // namespace starling
