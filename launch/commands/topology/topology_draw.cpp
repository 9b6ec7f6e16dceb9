// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/topology_line.h"
#include "launch/commands/commands.h"
#include "launch/system/files.h"
#include "topology/draw/draw.h"
#include "topology/file/load.h"

namespace starling {
namespace {

struct Options {
  std::string file, out;
  DrawOptions draw;
};

int draw(const Options& options) {
  if (options.out.empty()) return bad_input("topology draw: -o FILE.svg is missing");
  if (std::filesystem::path(options.out).extension() != ".svg")
    return bad_input("topology draw: -o: the picture is an SVG; '" + options.out +
                     "' must end in .svg");
  if (auto good = check_out_file(options.out, OutKind::picture); !good)
    return bad_input("topology draw: -o: " + good.error().message);
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  const std::string svg = draw_svg(read.value(), options.draw);
  if (auto written = write_text(options.out, svg); !written.ok()) return failed(written.error());
  std::fprintf(stderr, "%s: %s\n", options.out.c_str(), topology_line(read.value()).c_str());
  return kDone;
}

}  // namespace

void add_topology_draw(const Command& topology) {
  const auto o = std::make_shared<Options>();
  const Command command = topology.sub("draw", "a picture of a data centre");
  command.positional("FILE", o->file, "YAML, or a list of servers in CSV");
  command.option("-o,--out", o->out, "FILE.svg", "where to");
  command.option("--width", o->draw.width, "X", "pixels after which rows wrap (default 1200)", 99.0,
                 false);
  command.option("--each-max", o->draw.each_max, "N",
                 "more servers of a rack or racks of a pod are drawn once each kind (default 8)",
                 1U, 65'536U);
  command.examples({"starling topology draw cluster.yaml -o cluster.svg"});
  command.action([o] { return draw(*o); });
}

}  // namespace starling
