import type { Chance } from '../../src/clock/chance.ts';
import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import { createRunner } from '../../src/runner/run-issue.ts';
import type { Runner } from '../../src/runner/runner.ts';
import { openToolSet } from '../../src/tools/registry.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { guardStore } from './guard-store.ts';
import type { Life } from './life.ts';
import { wordsOf } from './question-book.ts';
import { simulatedAgent } from './simulated-agent.ts';
import { simulatedProcesses } from './simulated-processes.ts';
import { simulatedTracker } from './simulated-tracker.ts';
import { simulatedWorkspaces } from './simulated-workspaces.ts';
import { storeGate } from './store-gate.ts';
import { tracingLogger } from './tracing-logger.ts';
import type { World } from './world.ts';

/** The one place where the parts of the real daemon and of the world meet. */
export function composeDaemon(world: World, life: Life): Orchestrator {
  const { isShared } = world.plan;
  const logger = tracingLogger(world.trace, life);
  const tracker = simulatedTracker(world, life);
  const workspaces = simulatedWorkspaces(world, life);
  const parts: OrchestratorParts = {
    clock: life.clock,
    chance: chanceOf(world, life),
    logger,
    source: world.file,
    trackerFor: () => tracker,
    workspacesFor: () => workspaces,
    runner: hearAnswers(
      world,
      createRunner({
        clock: life.clock,
        chance: chanceOf(world, life),
        logger,
        toolHost: null,
        agentFor: ({ agent }, { name }) =>
          simulatedAgent(world, life, { turnTimeoutMs: agent.turnTimeoutMs, account: name }),
        workspacesFor: () => workspaces,
        toolSetFor: (_settings, run) => openToolSet({ ...run, clock: life.clock, tracker }),
        readIssue: async (_settings, id, signal) => (await tracker.fetchByIds([id], { signal }))[0] ?? null,
      }),
    ),
    store: guardStore(world.memory.store, life, storeGate(world, life), isShared ? 'postgres' : 'sqlite'),
    isShared,
    refreshRequests: async () => {},
    touchedAt: () => null,
    project: world.project,
    owner: `daemon-${life.daemon}`,
    host: life.machine,
    transcripts: {
      append: () => life.call('transcripts.append', async () => {}),
      remove: () => life.call('transcripts.remove', async () => {}),
    },
    processes: simulatedProcesses(world, life),
    readHeadroom: async () => ({ disk: [], memoryMb: null }),
    pruneSalvage: () => life.call('salvage.prune', async () => 0),
    pool: null,
    trial: null,
    onHealth: () => {},
  };
  return new Orchestrator(world.sabotage.parts?.(parts, world, life) ?? parts);
}

/** Whatever a run is told while it lives goes through here. */
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

/** Ids tell whose they are: a run of the third life of a daemon is `a3.17`. */
function chanceOf(world: World, life: Life): Chance {
  const drawn = seededChance(world.draw.lives.between(0, 2 ** 31));
  let made = 0;
  return { next: drawn.next, id: () => `${life.name}.${++made}` };
}
