import type { Agent, AgentSession, SessionRequest } from '../../src/agent/agent.ts';
import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { drawTemper, type Temper } from './agent-script.ts';
import type { Incarnation } from './incarnation.ts';
import { SimulatedSession } from './simulated-session.ts';
import type { World } from './world.ts';

/** Agents whose process is in the world: it acts by the world's clock, also when its daemon is dead. */
export function simulatedAgent(world: World, incarnation: Incarnation, { turnTimeoutMs, account }: AgentChoice): Agent {
  return {
    backend: 'simulated',
    startSession: (request) =>
      incarnation.call('agent.startSession', () =>
        startSession(world, incarnation, request, { turnTimeoutMs, account }),
      ),
  };
}

export interface AgentChoice {
  readonly turnTimeoutMs: number;
  /** The name of the account that it uses. */
  readonly account: string;
}

/** A conversation that was too long once is likely to be too long again. */
const againTooLong = 0.6;

async function startSession(
  world: World,
  incarnation: Incarnation,
  request: SessionRequest,
  choice: AgentChoice,
): Promise<AgentSession> {
  const { draw, plan } = world;
  const temper = temperOf(world, request);
  const survives = !world.isCalm && draw.agents.chance(plan.agents.survives);
  await sleep(incarnation.clock, draw.agents.between(1, 1_500), request.signal);
  if (temper === 'does_not_start' && draw.agents.chance(0.5)) throw launchFailed();
  if (!request.isStillOurs()) throw new BatonError('claim_lost', 'The claim may be lost.');
  const process = world.spawn(incarnation, request.runId, request.env.BATON_ISSUE_ID ?? '', survives);
  request.onProcess({ pid: process.pid, startTime: process.startTime });
  process.onExit.add(() => {
    if (!process.isUnheard) incarnation.deliver(() => request.onProcess(null));
  });
  const session = new SimulatedSession({ world, incarnation, request, process, temper, ...choice });
  try {
    await sleep(incarnation.clock, draw.agents.between(0, 1_500), request.signal);
    if (temper === 'does_not_start' || !world.processes.isLive(process)) throw launchFailed();
  } catch (error) {
    await session.end();
    throw error;
  }
  session.tell('session_started', 'a session');
  return session;
}

function temperOf({ draw, plan, isCalm, overflowed }: World, { workspace }: SessionRequest): Temper {
  const temper = drawTemper(draw.agents, isCalm ? 0 : plan.agents.hostile, plan.agents.tempers);
  if (isCalm || !overflowed.delete(workspace) || !draw.questions.chance(againTooLong)) return temper;
  return 'overflows';
}

function launchFailed(): BatonError {
  return new BatonError('agent_launch_failed', 'The simulated agent did not start.');
}
