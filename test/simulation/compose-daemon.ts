import type { Chance } from '../../src/clock/chance.ts';
import { nothingToPrune } from '../../src/core/prune.ts';
import { taskReads } from '../../src/daemon/trackers.ts';
import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import type { PullRequests } from '../../src/pulls/pull-requests.ts';
import { createRunner } from '../../src/runner/run-issue.ts';
import type { Runner } from '../../src/runner/runner.ts';
import { openToolSet } from '../../src/tools/registry.ts';
import { withTasks } from '../../src/tracker/with-tasks.ts';
import { noFiles } from '../fake/no-files.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { guardStore } from './guard-store.ts';
import type { Incarnation } from './incarnation.ts';
import { wordsOf } from './question-book.ts';
import { simulatedGithubPulls } from './review/github-client.ts';
import type { ReviewWorld } from './review/review-world.ts';
import { simulatedChecks } from './review/simulated-checks.ts';
import { simulatedCheckout } from './review/simulated-judge.ts';
import { simulatedPulls } from './review/simulated-pulls.ts';
import { simulatedAgent } from './simulated-agent.ts';
import { simulatedProcesses } from './simulated-processes.ts';
import { simulatedTracker } from './simulated-tracker.ts';
import { simulatedWorkspaces } from './simulated-workspaces.ts';
import { storeGate } from './store-gate.ts';
import { tracingLogger } from './tracing-logger.ts';
import type { World } from './world.ts';

/** The only place where the parts of the real daemon meet the simulated world. */
export function composeDaemon(world: World, incarnation: Incarnation): Orchestrator {
  const { review } = world;
  const { isShared } = world.plan;
  const logger = tracingLogger(world.trace, incarnation);
  const workspaces = simulatedWorkspaces(world, incarnation);
  const shownEngine = isShared ? 'postgres' : 'sqlite';
  const store = guardStore(world.memory.store, incarnation, storeGate(world, incarnation), shownEngine);
  const bare = simulatedTracker(world, incarnation);
  const { tracker: trackerSettings } = world.plan.settings;
  const tracker = world.tasks === null ? bare : withTasks(bare, taskReads(store, world.project), trackerSettings);
  const pulls = review === null ? null : pullsOf(world, review, incarnation);
  const parts: OrchestratorParts = {
    clock: incarnation.clock,
    chance: chanceOf(world, incarnation),
    logger,
    source: world.file,
    trackerFor: () => tracker,
    workspacesFor: () => workspaces,
    runner: hearAnswers(
      world,
      createRunner({
        clock: incarnation.clock,
        chance: marksOf(world, incarnation),
        logger,
        toolHost: null,
        agentFor: ({ agent }, { name }) =>
          simulatedAgent(world, incarnation, { turnTimeoutMs: agent.turnTimeoutMs, account: name }),
        workspacesFor: () => workspaces,
        checkoutFor: async (_, judged) => simulatedCheckout(world, judged),
        toolSetFor: (_settings, run) => openToolSet({ ...run, clock: incarnation.clock, tracker }),
      }),
    ),
    store,
    isShared,
    refreshRequests: async () => {},
    touchedAt: () => null,
    project: world.project,
    owner: `daemon-${incarnation.daemon}`,
    host: incarnation.machine,
    transcripts: {
      append: () => incarnation.call('transcripts.append', async () => {}),
      remove: () => incarnation.call('transcripts.remove', async () => {}),
      list: async () => [],
    },
    processes: simulatedProcesses(world, incarnation),
    readHeadroom: async () => ({ disk: [], memoryMb: null }),
    files: { ...noFiles, savedWork: () => incarnation.call('salvage.prune', async () => nothingToPrune) },
    pullsFor: () => pulls,
    runChecks: review === null ? async () => {} : simulatedChecks(world, review, incarnation, () => used.store),
    pool: null,
    trial: null,
    onHealth: () => {},
  };
  const used = world.sabotage.parts?.(parts, world, incarnation) ?? parts;
  return new Orchestrator(used);
}

function pullsOf(world: World, review: ReviewWorld, incarnation: Incarnation): PullRequests {
  const { github } = review;
  return github === null
    ? simulatedPulls(world, review, incarnation)
    : simulatedGithubPulls(world, review, github, incarnation);
}

/** Every message to a live run goes through here. */
function hearAnswers(world: World, runner: Runner): Runner {
  const { questions } = world;
  return {
    start: (request) =>
      runner.start({
        ...request,
        ask: async (question, signal) => {
          const goOn = questions.wait(request.runId, world);
          const answer = await request.ask(question, signal);
          goOn();
          if (answer !== null)
            questions.tell(question.text, { runId: request.runId, words: wordsOf(answer), isReminder: false });
          return answer;
        },
      }),
  };
}

/** The runner draws the marks of fences only: they are letters, digits and hyphens. */
function marksOf(world: World, incarnation: Incarnation): Chance {
  const { next, id } = chanceOf(world, incarnation);
  return { next, id: () => `a-mark-that-is-long-${id().replaceAll('.', '-')}` };
}

/** Ids name their owner: a run of the third incarnation of a daemon is `a3.17`. */
function chanceOf(world: World, incarnation: Incarnation): Chance {
  const drawn = seededChance(world.draw.lives.between(0, 2 ** 31));
  let made = 0;
  return { next: drawn.next, id: () => `${incarnation.name}.${++made}` };
}
