// SPDX-License-Identifier: Apache-2.0
#ifndef STARLING_H
#define STARLING_H

/* Starling for programs in C, and in all languages that call C: data centres, jobs, simulated runs,
 * and policies of one's own. Link with libstarling (in CMake: find_package(starling), target
 * starling::starling). docs/embedding.md, examples/embed.
 *
 * Ownership. What a function with `new`, `load`, `generate`, `read` or `simulate` in its name
 * returns is the caller's, who gives it to the `free` of the same type; NULL may be given, too.
 * Texts that are returned belong to what they were asked of, and live as long. Texts that are given
 * are copied.
 *
 * Errors. A function that returns a pointer returns NULL, one that returns an int -1, where
 * something is wrong; then starling_error() says what, in the words of the command line. No C++
 * exception leaves a function. A NULL where an object is to be is an error like any other.
 *
 * Threads. Different objects may be used by different threads at a time, and several runs may have
 * the same data centre and workload, which they do not change. starling_error() is the thread's.
 *
 * Stability. Within one STARLING_ABI functions and structs stay as they are; new functions come to
 * them. Times are seconds since the start of the run. Numbers of GPUs are those of the data centre,
 * from 0. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARLING_ABI 1

/* That of the library that is loaded: to be compared with STARLING_ABI. */
int starling_abi(void);
/* "0.2.0+3f9a41c6d2e7": version and build, as records of runs have it. */
const char* starling_version(void);
/* What was wrong in this thread's last call that said so; "" if none was. Lives until this
 * thread's next call that goes wrong. */
const char* starling_error(void);

/* ---- Data centres ---- */

typedef struct starling_topology starling_topology;
/* A file in YAML, or of a format that can be imported (docs/topology-format.md). */
starling_topology* starling_topology_load(const char* file);
/* flat, leaf-spine, fat-tree, ...: as `starling topology generate` has them. */
starling_topology* starling_topology_generate(const char* kind, uint32_t servers,
                                              uint32_t gpus_per_server);
uint32_t starling_topology_servers(const starling_topology* topology);
uint32_t starling_topology_gpus(const starling_topology* topology);
void starling_topology_free(starling_topology* topology);

/* ---- Jobs ---- */

typedef struct starling_workload starling_workload;
/* A trace, plain or gzip; `format` NULL: told from its header. */
starling_workload* starling_workload_read(const char* file, const char* format);
/* No job; starling_workload_add puts them in, in any order. */
starling_workload* starling_workload_new(void);
/* `duration_s`: alone on its best placement. `model` NULL or "": none that is known. 0, or -1. */
int starling_workload_add(starling_workload* workload, const char* name, double submit_s,
                          uint32_t gpus, double duration_s, const char* model);
size_t starling_workload_jobs(const starling_workload* workload);
void starling_workload_free(starling_workload* workload);

/* ---- How a run is to be ---- */

typedef struct starling_options starling_options;
starling_options* starling_options_new(void);
/* policy, agents, physics, speed, durations, network, seed, load, check (yes or no): names and
 * values are those of `starling sim`. 0, or -1: there is no such option, or `value` is no value for
 * it. What goes with what is looked at by starling_simulate. */
int starling_options_set(starling_options* options, const char* name, const char* value);
/* Called by the run's thread every some thousand events, in a short run never, with jobs that are
 * over and all jobs; what it returns ends the run if it is not 0. */
typedef int (*starling_progress)(void* context, uint64_t done, uint64_t total);
int starling_options_set_progress(starling_options* options, starling_progress call, void* context);
void starling_options_free(starling_options* options);

/* ---- A policy of one's own ---- */

/* What decide() may see: one agent's partition, its jobs, as long as the call lasts. */
typedef struct starling_view starling_view;
/* The decisions of a call, in the order in which they are tried. */
typedef struct starling_decisions starling_decisions;

typedef struct starling_job {
  uint32_t job; /* in this call: what decisions name */
  uint32_t gpus, workers, gpus_per_worker;
  int32_t priority;
  uint32_t forwards;
  int blocked;        /* something is under way: leave it alone */
  const char* name;   /* lives as long as the call */
  const char* model;  /* the same */
  double submitted_s; /* when its first home took it */
  double duration_s;  /* what the policy may know of it: exact, noisy, or 0: not known */
  double served_s;    /* that it has run so far */
} starling_job;

/* Of what other agents said of their partitions last. */
typedef struct starling_other {
  uint32_t agent, gpus, free, waiting;
} starling_other;

double starling_view_now(const starling_view* view);
uint32_t starling_view_agent(const starling_view* view);
/* In arrival order; and those that run, in start order, where the policy says that it wants them.
 * 0, or -1: there is no such job. */
size_t starling_view_waiting(const starling_view* view);
int starling_view_waiting_job(const starling_view* view, size_t index, starling_job* job);
size_t starling_view_running(const starling_view* view);
int starling_view_running_job(const starling_view* view, size_t index, starling_job* job);
/* How many GPUs the job has; the first `room` of them, ascending, in `gpus`. */
size_t starling_view_placement(const starling_view* view, uint32_t job, uint32_t* gpus,
                               size_t room);
/* How many GPUs of the partition are free and not promised in this call; likewise. */
size_t starling_view_free(const starling_view* view, uint32_t* gpus, size_t room);
size_t starling_view_others(const starling_view* view);
int starling_view_other(const starling_view* view, size_t index, starling_other* other);
/* GPUs for a job as the built-in queues place it, within one server or on whole ones, and promises
 * them for the rest of the call. How many there are, and in `gpus`, that has room for all that the
 * job asks for; 0: there is no room in the partition. */
size_t starling_view_place(const starling_view* view, uint32_t job, uint32_t* gpus);

/* 0, or -1: there is no such job. What contradicts the ledger is refused by the agent: it costs
 * time, and never safety. */
int starling_start(starling_decisions* decisions, uint32_t job, const uint32_t* gpus, size_t count);
int starling_resize(starling_decisions* decisions, uint32_t job, const uint32_t* gpus,
                    size_t count);
int starling_preempt(starling_decisions* decisions, uint32_t job);
int starling_forward(starling_decisions* decisions, uint32_t job, uint32_t agent);

typedef struct starling_policy {
  /* Called whenever something has happened to an agent's jobs, by the thread of the run, for all
   * agents one after the other. 0: these are the decisions; else the run ends with an error. */
  int (*decide)(void* context, const starling_view* view, starling_decisions* decisions);
  void* context;
  int preemptive, elastic, needs_running; /* any of them: the view has jobs that run */
  double round_s;                         /* above 0: decide() is called so often as well */
} starling_policy;
/* In the place of the option `policy`. */
int starling_options_set_policy(starling_options* options, const starling_policy* policy);

/* ---- Runs ---- */

typedef struct starling_run starling_run;
/* Simulates the workload in virtual time. `options` NULL: as they are at first. The same arguments,
 * the same run: that of `starling sim`, with its hash. */
starling_run* starling_simulate(const starling_topology* topology,
                                const starling_workload* workload, const starling_options* options);
/* Of all that happened, as trace_hash of summary.json. */
uint64_t starling_run_hash(const starling_run* run);
/* A figure of summary.json by its key, as avg_jct_s; NaN where there is none of that name. */
double starling_run_figure(const starling_run* run, const char* name);
/* All of them: summary.json (docs/experiments.md). */
const char* starling_run_json(starling_run* run);

typedef struct starling_result {
  const char* name;
  const char* model;
  const char* state;                  /* finished, failed, ... */
  const char* placement;              /* "12-19" or "3,5-8": GPUs of its last attempt */
  double submit_s, start_s, finish_s; /* start: the first; -1: never */
  double service_s, duration_s;       /* on GPUs, all attempts; alone, from the trace */
  uint32_t gpus, agent, attempts, forwards, preemptions;
} starling_result;
size_t starling_run_jobs(const starling_run* run);
/* By submit time, then as they were added. 0, or -1: there is no such job. */
int starling_run_job(const starling_run* run, size_t index, starling_result* result);
void starling_run_free(starling_run* run);

#ifdef __cplusplus
}
#endif

#endif
