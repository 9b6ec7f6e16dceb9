/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of starling.h, with what is right and what is wrong: tests/embed_test.sh.
 *   embed_test TOPOLOGY TRACE */
#include <math.h>
#include <starling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong = 0;
#define CHECK(x) \
  ((x) ? (void)0 : (void)(++wrong, fprintf(stderr, "line %d: %s; %s\n", __LINE__, #x, starling_error())))
static int says(const char* words) { return strstr(starling_error(), words) != NULL; }

static struct {
  size_t calls, others, running, preempted, free_most;
  int fail_at, odd;
} seen;

/* Starts what fits, on free GPUs that it picks itself; now and then stops a job. */
static int decide(void* context, const starling_view* view, starling_decisions* decisions) {
  uint32_t gpus[64], had[64];
  starling_job job;
  starling_other other;
  ++seen.calls;
  if (context != &seen) return 9;
  if (seen.fail_at > 0 && seen.calls >= (size_t)seen.fail_at) return 3;
  size_t count = starling_view_free(view, gpus, 64), at = 0;
  if (count > seen.free_most) seen.free_most = count;
  if (starling_view_waiting_job(view, starling_view_waiting(view), &job) != -1) ++seen.odd;
  if (starling_start(decisions, 1u << 30, gpus, 1) != -1) ++seen.odd;
  seen.others += starling_view_others(view);
  if (starling_view_others(view) > 0 &&
      (starling_view_other(view, 0, &other) != 0 || other.agent == starling_view_agent(view)))
    ++seen.odd;
  for (size_t i = 0; i < starling_view_running(view); ++i) {
    if (starling_view_running_job(view, i, &job) != 0) ++seen.odd;
    if (starling_view_placement(view, job.job, had, 64) != job.gpus) ++seen.odd;
    ++seen.running;
    if (seen.calls % 50 == 0 && i == 0 && !job.blocked) {
      starling_preempt(decisions, job.job);
      ++seen.preempted;
    }
  }
  for (size_t i = 0; i < starling_view_waiting(view); ++i) {
    if (starling_view_waiting_job(view, i, &job) != 0) ++seen.odd;
    if (job.name == NULL || job.duration_s <= 0 || job.submitted_s > starling_view_now(view)) ++seen.odd;
    if (job.blocked || at + job.gpus > count) continue;
    if (starling_start(decisions, job.job, gpus + at, job.gpus) != 0) ++seen.odd;
    at += job.gpus;
  }
  return 0;
}

static size_t told = 0;
static int progress(void* context, uint64_t done, uint64_t total) {
  ++told;
  return context != NULL && done * 2 > total;
}

static void own_policy(const starling_topology* place, const starling_workload* jobs) {
  starling_options* options = starling_options_new();
  starling_policy own;
  memset(&own, 0, sizeof own);
  CHECK(starling_options_set_policy(options, &own) == -1 && says("no decide"));
  own.decide = decide;
  own.context = &seen;
  own.preemptive = 1;
  CHECK(starling_options_set_policy(options, &own) == 0);
  CHECK(starling_options_set(options, "agents", "2") == 0);
  starling_run* run = starling_simulate(place, jobs, options);
  CHECK(run != NULL);
  CHECK(starling_run_figure(run, "jobs_finished") == (double)starling_workload_jobs(jobs));
  CHECK(seen.calls > 100 && seen.running > 0 && seen.preempted > 0 && seen.others > 0);
  CHECK(seen.free_most == starling_topology_gpus(place) / 2);
  CHECK(seen.odd == 0);
  starling_run_free(run);
  seen.fail_at = (int)seen.calls + 10;
  CHECK(starling_simulate(place, jobs, options) == NULL);
  CHECK(says("decide() of agent ") && says("returned 3"));
  starling_options_free(options);
}

static void many_runs(const starling_topology* place, const starling_workload* jobs) {
  starling_options* options = starling_options_new();
  CHECK(starling_options_set(options, "policy", "sjf") == 0);
  uint64_t hash = 0;
  for (int i = 0; i < 20; ++i) {
    starling_run* run = starling_simulate(place, jobs, options);
    CHECK(run != NULL && (i == 0 || hash == starling_run_hash(run)));
    hash = starling_run_hash(run);
    starling_run_free(run);
  }
  starling_workload* many = starling_workload_new(); /* so many that the run is looked at */
  for (int i = 0; i < 6000; ++i) CHECK(starling_workload_add(many, "j", i, 1, 10, NULL) == 0);
  CHECK(starling_options_set_progress(options, progress, NULL) == 0);
  starling_run_free(starling_simulate(place, many, options));
  CHECK(told > 0);
  CHECK(starling_options_set_progress(options, progress, &told) == 0);
  CHECK(starling_simulate(place, many, options) == NULL && says("ended by its progress"));
  starling_workload_free(many);
  starling_options_free(options);
}

static void results(const starling_topology* place, const starling_workload* jobs) {
  starling_run* run = starling_simulate(place, jobs, NULL);
  CHECK(run != NULL);
  CHECK(starling_run_jobs(run) == starling_workload_jobs(jobs));
  starling_result row;
  double sum = 0;
  for (size_t i = 0; i < starling_run_jobs(run); ++i) {
    CHECK(starling_run_job(run, i, &row) == 0);
    CHECK(strcmp(row.state, "finished") == 0 && row.start_s >= row.submit_s && row.gpus > 0);
    CHECK(row.placement[0] >= '0' && row.placement[0] <= '9');
    sum += row.finish_s - row.submit_s;
  }
  CHECK(fabs(sum / (double)starling_run_jobs(run) - starling_run_figure(run, "avg_jct_s")) < 1e-6);
  CHECK(starling_run_job(run, starling_run_jobs(run), &row) == -1);
  CHECK(isnan(starling_run_figure(run, "nonsense")) && says("no key 'nonsense'"));
  CHECK(strstr(starling_run_json(run), "\"policy\": \"starling\"") != NULL);
  starling_run_free(run);
}

static void own_jobs(const starling_topology* place) {
  starling_workload* jobs = starling_workload_new();
  CHECK(starling_workload_add(jobs, "late", 100, 2, 60, "resnet50") == 0);
  CHECK(starling_workload_add(jobs, "soon", 0, 8, 600, NULL) == 0);
  CHECK(starling_workload_add(jobs, "odd", 0, 0, 60, NULL) == -1 && says("'odd'"));
  CHECK(starling_workload_add(jobs, "odd", -1, 1, 60, NULL) == -1);
  CHECK(starling_workload_add(jobs, "odd", 0, 1, NAN, NULL) == -1);
  CHECK(starling_workload_jobs(jobs) == 2);
  starling_run* run = starling_simulate(place, jobs, NULL);
  starling_result row;
  CHECK(run != NULL && starling_run_job(run, 0, &row) == 0);
  CHECK(strcmp(row.name, "soon") == 0 && row.finish_s == 600);
  starling_run_free(run);
  starling_workload_free(jobs);
}

static void mistakes(const starling_topology* place, const starling_workload* jobs) {
  starling_options* options = starling_options_new();
  CHECK(starling_topology_load("nosuch.yaml") == NULL && says("nosuch.yaml"));
  CHECK(starling_topology_load(NULL) == NULL);
  CHECK(starling_topology_generate("cube", 4, 4) == NULL && says("cube"));
  CHECK(starling_topology_generate("flat", 0, 4) == NULL);
  CHECK(starling_workload_read("nosuch.csv", NULL) == NULL && says("nosuch.csv"));
  CHECK(starling_workload_read("w.csv", "fhilly") == NULL && says("'fhilly' is no trace format"));
  CHECK(starling_options_set(options, "polly", "x") == -1 && says("there is no option 'polly'"));
  CHECK(starling_options_set(options, "agents", "many") == -1 && says("--agents"));
  CHECK(starling_options_set(options, "load", "0") == -1 && says("--load"));
  CHECK(starling_options_set(NULL, "load", "1") == -1);
  CHECK(starling_options_set(options, "policy", "fofi") == 0);
  CHECK(starling_simulate(place, jobs, options) == NULL && says("fofi"));
  CHECK(starling_options_set(options, "policy", "fifo") == 0);
  CHECK(starling_options_set(options, "agents", "99") == 0);
  CHECK(starling_simulate(place, jobs, options) == NULL && says("cannot share"));
  CHECK(starling_simulate(NULL, jobs, options) == NULL && says("no data centre"));
  CHECK(starling_run_job(NULL, 0, NULL) == -1);
  CHECK(starling_run_json(NULL) == NULL);
  starling_options_free(options);
  starling_options_free(NULL);
  starling_run_free(NULL);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  CHECK(strcmp(starling_error(), "") == 0);
  CHECK(starling_abi() == STARLING_ABI);
  CHECK(strlen(starling_version()) > 4);
  starling_topology* place = starling_topology_load(argv[1]);
  starling_workload* jobs = starling_workload_read(argv[2], "starling");
  CHECK(place != NULL && jobs != NULL);
  if (place == NULL || jobs == NULL) return 1;
  CHECK(starling_topology_servers(place) == 4 && starling_topology_gpus(place) == 32);
  CHECK(starling_workload_jobs(jobs) == 120);
  starling_topology* made = starling_topology_generate("leaf-spine", 4, 8);
  CHECK(made != NULL && starling_topology_gpus(made) == 32);
  own_policy(place, jobs);
  many_runs(place, jobs);
  results(made, jobs);
  own_jobs(place);
  mistakes(place, jobs);
  starling_topology_free(made);
  starling_topology_free(place);
  starling_workload_free(jobs);
  return wrong == 0 ? 0 : 1;
}
