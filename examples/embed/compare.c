/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in policies and one of this program's own on the same jobs.
 *   compare TOPOLOGY TRACE [AGENTS] */
#include <starling.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, starling_error());
  return 1;
}

/* Who asks for the fewest GPUs comes first. */
static int by_gpus(const void* a, const void* b) {
  const starling_job *x = a, *y = b;
  if (x->gpus != y->gpus) return x->gpus < y->gpus ? -1 : 1;
  return x->job < y->job ? -1 : x->job > y->job;
}

static int smallest_first(void* calls, const starling_view* view, starling_decisions* decisions) {
  const size_t waiting = starling_view_waiting(view);
  starling_job* jobs = malloc((waiting + 1) * sizeof *jobs);
  if (jobs == NULL) return 1;
  for (size_t i = 0; i < waiting; ++i) starling_view_waiting_job(view, i, &jobs[i]);
  qsort(jobs, waiting, sizeof *jobs, by_gpus);
  for (size_t i = 0; i < waiting; ++i) {
    if (jobs[i].blocked) continue;
    uint32_t* gpus = malloc(jobs[i].gpus * sizeof *gpus);
    if (gpus == NULL) break;
    const size_t count = starling_view_place(view, jobs[i].job, gpus);
    if (count > 0) starling_start(decisions, jobs[i].job, gpus, count);
    free(gpus);
  }
  free(jobs);
  ++*(unsigned long*)calls;
  return 0;
}

static int simulate(const char* name, const starling_topology* place, const starling_workload* jobs,
                    starling_options* options) {
  starling_run* run = starling_simulate(place, jobs, options);
  if (run == NULL) return failed(name);
  printf("%-16s mean JCT %8.0f s, GPUs in use %4.1f %%, hash %016llx\n", name,
         starling_run_figure(run, "avg_jct_s"), 100 * starling_run_figure(run, "gpu_utilization"),
         (unsigned long long)starling_run_hash(run));
  starling_run_free(run);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: compare TOPOLOGY TRACE [AGENTS]\n");
    return 2;
  }
  if (starling_abi() != STARLING_ABI) {
    fprintf(stderr, "libstarling has another ABI, %d\n", starling_abi());
    return 2;
  }
  int wrong = 1;
  unsigned long calls = 0;
  starling_options* options = starling_options_new();
  starling_workload* jobs = NULL;
  starling_topology* place = starling_topology_load(argv[1]);
  if (place == NULL) {
    failed(argv[1]);
  } else if ((jobs = starling_workload_read(argv[2], NULL)) == NULL) {
    failed(argv[2]);
  } else if (starling_options_set(options, "agents", argc > 3 ? argv[3] : "1") != 0) {
    failed("agents");
  } else {
    wrong = 0;
    static const char* const built_in[] = {"fifo", "sjf", "lif:threshold=0.3"};
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in && !wrong; ++i)
      wrong = starling_options_set(options, "policy", built_in[i]) != 0 ||
              simulate(built_in[i], place, jobs, options);
    starling_policy own = {0};
    own.decide = smallest_first;
    own.context = &calls;
    if (!wrong) wrong = starling_options_set_policy(options, &own) != 0;
    if (!wrong) wrong = simulate("smallest first", place, jobs, options);
  }
  starling_options_free(options);
  starling_workload_free(jobs);
  starling_topology_free(place);
  if (!wrong) printf("asked %lu times, by %s\n", calls, starling_version());
  return wrong;
}
