// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "launch/report/page.h"
#include "launch/report/test_browser.h"
#include "launch/view/floor_plan.h"
#include "launch/view/moment.h"
#include "launch/view/picture_pdf.h"
#include "launch/view/recording_file.h"
#include "launch/view/recording_of_rows.h"
#include "launch/view/still_picture.h"
#include "launch/view/view_page.h"
#include "policies/registry.h"
#include "sim/chaos/chaos.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate.h"

using namespace starling;

namespace {

Topology racks(std::uint32_t servers, std::uint32_t gpus = 8, std::uint32_t servers_per_rack = 8) {
  GeneratorOptions options;
  options.servers = servers;
  options.gpus_per_server = gpus;
  options.servers_per_rack = servers_per_rack;
  return generate_leaf_spine(options).value();
}

struct Recorded {
  RunRecorder recorder;
  RunResult result;
  [[nodiscard]] const Recording& recording() const { return *recorder.recording(); }
};

void record(Recorded& out, const Topology& topology, std::uint32_t jobs, const char* policy,
            std::uint32_t agents, bool flows = false) {
  TraceGeneratorOptions options;
  options.jobs = jobs;
  options.cluster_gpus = topology.gpu_count();
  options.load = 1.1;
  options.max_duration_s = 4 * 3600;
  SimOptions sim;
  sim.policy = policy;
  sim.agents = agents;
  sim.recorder = &out.recorder;
  if (flows) {
    sim.physics = PhysicsKind::full;
    sim.links = NetworkKind::flows;
  }
  auto run = simulate(topology, generate_trace(options).value(), make_policy_registry(), sim);
  REQUIRE(run.ok());
  out.result = std::move(run).value();
}

std::string refusal(const std::string& text) {
  const auto read = parse_recording(text, "run.json");
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == Errc::invalid);
  CHECK(read.error().message.find("run.json: ") == 0);
  return read.error().message;
}

bool overlap(const PlanBox& a, const PlanBox& b) {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

bool inside(const PlanBox& a, const PlanBox& b) {
  return a.x >= b.x && a.y >= b.y && a.x + a.w <= b.x + b.w + 1e-9 && a.y + a.h <= b.y + b.h + 1e-9;
}

}  // namespace

TEST_CASE("a recording is the same once it was a file") {
  Recorded run;
  record(run, racks(8), 120, "srtf", 4);
  const std::string text = recording_text(run.recording());
  const auto read = parse_recording(text, "run.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(recording_text(read.value()) == text);
  CHECK(read.value().jobs.size() == 120);
  CHECK(read.value().topology == run.recording().topology);
  CHECK_FALSE(read.value().frames.empty());
}

TEST_CASE("what is no recording is told so, and why") {
  Recorded run;
  record(run, racks(2), 10, "fifo", 1);
  const std::string text = recording_text(run.recording());
  CHECK(refusal("{}").find("'starling sim --record'") != std::string::npos);
  CHECK(refusal("no JSON").find("is no recording") != std::string::npos);
  CHECK(refusal(text.substr(0, text.size() / 2)).find("is no recording") != std::string::npos);
  auto json = nlohmann::ordered_json::parse(text);
  const auto with = [&](const char* key, const nlohmann::ordered_json& value) {
    auto changed = json;
    changed[key] = value;
    return changed.dump();
  };
  CHECK(refusal(with("starling_recording", 2)).find("record the run anew") != std::string::npos);
  CHECK(refusal(with("shares", {{0, 0, 1.0, 2.0, "0-4000000000", 0}})).find("GPUs that are not") !=
        std::string::npos);
  CHECK(refusal(with("shares", {{0, 0, 1.0, 2.0, "0-15,0", 0}})).find("on a GPU twice") !=
        std::string::npos);
  CHECK(refusal(with("shares", {{99, 0, 1.0, 2.0, "0", 0}})).find("not listed") !=
        std::string::npos);
  CHECK(refusal(with("jobs", "none")).find("is damaged") != std::string::npos);
  CHECK(refusal(with("topology", "servers: [")).find("its data centre") != std::string::npos);
  CHECK(refusal(with("whys", {{"left_out", 0}, {"lines", {"x"}}, {"list", {{1.0, 0, {7}}}}}))
            .find("is damaged") != std::string::npos);
  CHECK(refusal(with("loads", {{"each_s", 0.0}, {"list", {{1.0, 99999, 7}}}})).find("a link") !=
        std::string::npos);
  CHECK(refusal(with("outages", {{1, 7, 0.0, 1.0}})).find("a daemon was down") !=
        std::string::npos);
}

TEST_CASE("a moment has every GPU's jobs, those that run and those that wait") {
  Recorded run;
  record(run, racks(4), 200, "fifo", 2);
  const Recording& recording = run.recording();
  for (const double part : {0.0, 0.2, 0.5, 0.9, 1.0}) {
    const double at = part * recording.end_s;
    const Moment moment = moment_of(recording, at);
    std::uint32_t running = 0, waiting = 0, busy = 0;
    for (const JobRow& row : run.result.jobs) {
      if (row.start_s <= at && at < row.finish_s) ++running, busy += row.gpus;
      if (row.submit_s <= at && at < row.start_s) ++waiting;
    }
    CHECK(moment.running.size() == running);
    CHECK(moment.waiting.size() == waiting);
    CHECK(moment.busy_gpus == busy);
    const auto json = nlohmann::json::parse(moment_json(recording, moment));
    CHECK(json.at("running").size() == running);
    CHECK(json.at("waiting").size() == waiting);
  }
}

TEST_CASE("a floor plan has room for everything, and everything its own") {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes{
      {1, 8}, {5, 4}, {64, 8}, {40, 16}, {9, 1}};
  for (const auto& [servers, gpus] : sizes) {
    const Topology topology = racks(servers, gpus);
    for (const double aspect : {0.7, 1.7}) {
      const FloorPlan plan = floor_plan(topology, aspect);
      const PlanBox all{0, 0, plan.width, plan.height};
      for (const PlanBox& rack : plan.rack_boxes) CHECK(inside(rack, all));
      for (std::size_t s = 0; s < plan.servers.size(); ++s) {
        for (std::size_t other = 0; other < s; ++other)
          CHECK_FALSE(overlap(plan.servers[s], plan.servers[other]));
        const IndexRange of = topology.servers()[s].gpus;
        for (std::uint32_t g = of.first; g < of.last; ++g)
          CHECK(inside(plan.gpus[g], plan.servers[s]));
      }
      if (servers == 64) CHECK(std::abs(std::log(plan.width / plan.height / aspect)) < 0.5);
    }
  }
}

TEST_CASE("a still picture has a title and a mark for each job and GPU") {
  Recorded run;
  record(run, racks(4), 150, "fifo", 2);
  Recording recording = run.recording();
  recording.jobs[0].name = "<b>\"&";
  const Moment moment = moment_of(recording, recording.end_s / 3);
  const std::string svg = still_picture(recording, moment);
  CHECK(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\"") == 0);
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK(svg.find(std::to_string(moment.busy_gpus) + " of 32 GPUs busy") != std::string::npos);
  CHECK(count_of(svg, "<title>") >= moment.busy_gpus);
}

TEST_CASE("of a live run the rows are played") {
  Recorded run;
  record(run, racks(4), 60, "fifo", 2);
  const Recording rows = recording_of(run.result, racks(4));
  CHECK(rows.agents.size() == 2);
  CHECK(parse_recording(recording_text(rows), "run.json").ok());
  const double at = run.recording().end_s / 2;
  CHECK(moment_of(rows, at).running.size() == moment_of(run.recording(), at).running.size());
}

namespace {

/// What a person does with the page; what it shows then stands in the document.
const char* const kPlay = R"(
const say = (name, value) => { document.body.dataset[name] = String(value); };
const press = (key, more) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...more}));
press('End');
goTo(t); show(0);
say('atEnd', `${state.over.size} ${state.parts.size} ${state.waiting.size}`);
press('Home');
goTo(t); show(0);
say('atHome', `${t} ${state.busy}`);
slider.value = '5000'; slider.oninput();
show(0);
say('half', `${state.parts.size} ${state.waiting.size} ${state.busy}`);
seek(course.reduce((a, b) => b[1] > a[1] ? b : a)[0]); goTo(t); show(0);
const busyGpu = state.on.findIndex((on) => on.length > 0);
const box = map.getBoundingClientRect();
map.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + left + (plan.gpus[2 * busyGpu] + 5) * scale, clientY: box.top + 1 + (plan.gpus[2 * busyGpu + 1] + 5) * scale}));
show(0);
say('why', $('why').textContent.includes('runs on GPUs') && $('why').textContent.includes(servers[serverOf[busyGpu]].name));
say('said', $('why').querySelectorAll('.said').length);
say('story', $('story').hidden ? 'none' : $('story').querySelector('h2').textContent === state.on[busyGpu][0].name);
map.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + left + (plan.gpus[2 * busyGpu] + 5) * scale, clientY: box.top + 1 + (plan.gpus[2 * busyGpu + 1] + 5) * scale}));
say('gpuStory', $('story').querySelector('h2').textContent === `GPU ${busyGpu}`);
press('Escape');
say('closed', $('story').hidden);
$('find').value = jobs[3].name; $('find').onchange();
say('found', $('story').querySelector('h2').textContent === jobs[3].name);
const queued = course.find((p) => p[2] > 2);
if (queued) {
  seek(queued[0]); goTo(t); show(0);
  choosing([...state.waiting].pop()); show(0);
  say('waits', $('why').textContent.includes('waits for') && $('why').textContent.includes('its home, has'));
}
closeStory();
const loaded = fullest.indexOf(Math.max(0, ...fullest));
if (loaded >= 0) { seek(end * (loaded + 0.5) / kParts); goTo(t); show(0); }
say('links', `${links.length} ${$('links-card').hidden} ${Math.max(0, ...fullest) > 0} ${links.every((l) => l.racks.length > 0)}`);
choosing(jobs[3]);
const before = t; press('ArrowRight');
say('stepped', t > before);
press(' ');
say('plays', playing && $('go').textContent === 'Pause');
for (let i = 0; i < 50; ++i) { const was = t; t = Math.min(end, t + end / 400); goTo(t); spark(was, t, i * 16); show(i * 16); }
press(' ');
const pixels = map.getContext('2d').getImageData(0, 0, map.width, map.height).data;
const seen = new Set(); for (let i = 0; i < pixels.length; i += 4 * 7) seen.add((pixels[i] >> 4) * 256 + (pixels[i + 1] >> 4) * 16 + (pixels[i + 2] >> 4));
say('colours', seen.size > 12);
say('rows', $('feed').children.length > 0 && $('now').children.length === 4);
// Frames as they are played, the whole run in a minute, from its middle on; a pixel is read so that
// each is drawn.
const took = [];
seek(end / 2); goTo(t); show(0);
setPlaying(true);
for (let i = 0; i < 240; ++i) {
  const began = performance.now(), was = t;
  t = Math.min(end, t + end / 3600); goTo(t); spark(was, t, i * 16); show(i * 16);
  map.getContext('2d').getImageData(0, 0, 1, 1);
  took.push(performance.now() - began);
}
setPlaying(false);
took.sort((a, b) => a - b);
say('least', took[0].toFixed(2));
say('ms', took[120].toFixed(2));
say('slow', took[228].toFixed(2));
)";

std::string told(const std::string& dom, const std::string& name) {
  const std::string mark = "data-" + name + "=\"";
  const std::size_t at = dom.find(mark);
  if (at == std::string::npos) return "(not said)";
  return dom.substr(at + mark.size(), dom.find('"', at + mark.size()) - at - mark.size());
}

/// kPlay reads the page's own names, which are in the block of its script.
std::string with_play(std::string page) {
  const std::size_t at = page.rfind("}\n</script>");
  REQUIRE(at != std::string::npos);
  return page.insert(at, std::string("{") + kPlay + "}\n");
}

void check_played(const std::string& dom) {
  CHECK(told(dom, "story") == "true");
  CHECK(told(dom, "gpu-story") == "true");
  CHECK(told(dom, "closed") == "true");
  CHECK(told(dom, "found") == "true");
  CHECK(told(dom, "stepped") == "true");
  CHECK(told(dom, "plays") == "true");
  CHECK(told(dom, "colours") == "true");
  CHECK(told(dom, "rows") == "true");
}

}  // namespace

TEST_CASE("a run's recording comes back from its text, and its page names no host") {
  Recorded run;
  record(run, racks(16, 8, 2), 300, "load-balance", 2, true);
  const Recording& all = run.recording();
  CHECK_FALSE(all.loads.empty());
  CHECK_FALSE(all.whys.empty());
  CHECK(parse_recording(recording_text(all), "run.json").value().loads.size() == all.loads.size());
  CHECK(recording_text(parse_recording(recording_text(all), "run.json").value()) ==
        recording_text(all));
  const std::string page = view_page(all);
  CHECK_FALSE(names_a_host(page));
  CHECK(page_data(page).ok());
}

TEST_CASE("the page plays a run of 2,000 jobs on 512 GPUs as it was" * needs_browser()) {
  const TestBrowser browser("view");
  Recorded run;
  record(run, racks(64), 2000, "srtf", 4);
  const std::string dom = browser.dom(with_play(view_page(run.recording())));
  CHECK(told(dom, "at-end") == "2000 0 0");
  CHECK(told(dom, "at-home").find("0 ") == 0);
  const Moment half = moment_of(run.recording(), run.recording().end_s / 2);
  CHECK(told(dom, "half") == std::to_string(half.running.size()) + " " +
                                 std::to_string(half.waiting.size()) + " " +
                                 std::to_string(half.busy_gpus));
  check_played(dom);
  MESSAGE("a frame takes " << told(dom, "ms") << " ms, one in twenty more than "
                           << told(dom, "slow") << ", without a GPU of the machine's");
  CHECK(std::stod(told(dom, "least")) < 33);  // others have waited for other work of the machine
}

TEST_CASE("the page has links between racks and what policies said of jobs" * needs_browser()) {
  const TestBrowser browser("view-links");
  Recorded run;
  record(run, racks(16, 8, 2), 300, "load-balance", 2, true);
  const Recording& all = run.recording();
  const std::string dom = browser.dom(with_play(view_page(all)));
  check_played(dom);
  CHECK(told(dom, "why") == "true");
  CHECK(told(dom, "waits") != "false");
  CHECK(std::stoi(told(dom, "said")) > 0);
  CHECK(told(dom, "links").find(" false true true") != std::string::npos);
}

TEST_CASE("a still picture is a PDF, too") {
  Recorded run;
  record(run, racks(2), 30, "fifo", 2);
  Recording recording = run.recording();
  recording.policy = "(\\) \u00e4 \u2192";
  Moment moment = moment_of(recording, recording.end_s / 2);
  moment.sick.emplace_back(3U);
  const std::string pdf = picture_pdf(still_picture(recording, moment));
  CHECK(pdf.find("%PDF-1.4\n") == 0);
  CHECK(pdf.find("(\\(\\\\\\) \\344 ? on ") != std::string::npos);
  CHECK(count_of(pdf, " re f\n") + count_of(pdf, " h f\n") + count_of(pdf, " h B\n") >= 16);
  CHECK(count_of(pdf, " l S\n") == 1);
  // Each object is where the table says.
  const std::size_t table = std::stoul(pdf.substr(pdf.rfind("startxref\n") + 10));
  REQUIRE(pdf.substr(table, 9) == "xref\n0 6\n");
  for (std::size_t i = 1; i < 6; ++i) {
    const std::size_t at = std::stoul(pdf.substr(table + 9 + 20 * i, 10));
    CHECK(pdf.substr(at, 7) == std::to_string(i) + " 0 obj");
  }
}

TEST_CASE("the page plays a run of more events than a call has arguments" * needs_browser()) {
  const TestBrowser browser("view-long");
  Recorded run;
  record(run, racks(4), 20, "fifo", 1);
  Recording recording = run.recording();
  constexpr int kNotes = 150'000;
  for (int i = 0; i < kNotes; ++i)
    recording.notes.push_back({recording.end_s * i / kNotes, "told"});
  CHECK(told(browser.dom(view_page(recording)), "ready") == "yes");
}

namespace {

Recording chaos_recording() {
  RunRecorder recorder;
  ChaosOptions options;
  options.recorder = &recorder;
  options.twice_every = 0;
  static_cast<void>(run_chaos_seed(3, make_policy_registry(), options));
  REQUIRE(recorder.recording().has_value());
  return *recorder.recording();
}

}  // namespace

TEST_CASE("the recording of a seed of chaos comes back from its text") {
  CHECK(parse_recording(recording_text(chaos_recording()), "seed.json").ok());
}

TEST_CASE("the page plays a seed of chaos, with what was down" * needs_browser()) {
  const TestBrowser browser("view-chaos");
  check_played(browser.dom(with_play(view_page(chaos_recording()))));
}
