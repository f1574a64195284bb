import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Agent } from '../src/agent/agent.ts';
import { createCodexAgent } from '../src/agent/codex/codex-agent.ts';
import { codexHome } from '../test/fake/openai/codex-home.ts';
import { startFakeOpenAi } from '../test/fake/openai/fake-openai.ts';
import { type BareCodexOptions, bareTurn, startBareCodex, startBareThread } from '../test/real/bare-codex.ts';
import { findCodex } from '../test/real/codex-binary.ts';
import { completeTurn, figure, prompt, requestFor, turnOfOwn } from './agent-turns.ts';
import { processDeps } from './bench-daemon.ts';
import { type Measured, measureInTurns } from './measure.ts';
import type { Figure } from './report.ts';
import { Scratch } from './scratch.ts';

const turnRounds = 40;
const sessionRounds = 20;

/**
 * The overhead of Baton: a trivial turn of the real Codex, whose model on loopback says `ok`, through the agent seam that a
 * run uses, compared with the same turn driven by minimal code. Both use the same home and model, and take turns.
 */
export async function benchCodex(): Promise<readonly Figure[]> {
  const codex = await findCodex();
  if ('missing' in codex) {
    console.error(`codex: skipped. ${codex.missing}`);
    return [];
  }
  using scratch = new Scratch();
  await using model = await startFakeOpenAi();
  const { env: home } = codexHome(scratch.folder, model.url);
  const cwd = path.join(scratch.folder, 'workspace');
  mkdirSync(cwd);
  const deps = await processDeps();
  const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', ...home };
  const bare: BareCodexOptions = { program: codex.path, cwd, env };
  const agent = createCodexAgent(
    {
      command: `'${codex.path}' app-server`,
      version: '0.0.0',
      tools: 'none',
      approvals: 'deny',
      approvalPolicy: 'never',
      threadSandbox: 'danger-full-access',
      turnSandboxPolicy: null,
      readTimeoutMs: 60_000,
      turnTimeoutMs: 60_000,
    },
    { ...deps, daemonEnv: env, allowEnv: ['CODEX_*'], denyEnv: [], accountEnv: {} },
  );
  const inSession = await turnsInSessions(agent, bare);
  const [whole, wholeBare] = await measureInTurns(sessionRounds, 1, [
    () => turnOfOwn(agent, cwd),
    () => bareTurn(bare, prompt),
  ]);
  const asked = model.requests.length;
  const expected = 2 * (turnRounds + sessionRounds + 1);
  if (asked !== expected) throw new Error(`the model was asked ${asked} times, not ${expected}`);
  const version = `Codex ${codex.version}`;
  return [
    figure(`a trivial turn of ${version} in an open session, median of ${turnRounds}`, inSession),
    figure(
      `the same with a session of its own, from its start until no process of it is left (containment ${deps.containment}), median of ${sessionRounds}`,
      [whole, wholeBare],
    ),
  ];
}

async function turnsInSessions(agent: Agent, bare: BareCodexOptions): Promise<readonly Measured[]> {
  const session = await agent.startSession(requestFor(bare.cwd));
  try {
    await using codex = await startBareCodex(bare);
    const threadId = await startBareThread(codex, { cwd: bare.cwd });
    const acts = [() => completeTurn(session), () => codex.runTurn(threadId, prompt)];
    // The first turn of a thread sends more than the others.
    await measureInTurns(1, 1, acts);
    return await measureInTurns(turnRounds, 1, acts);
  } finally {
    await session.stop();
  }
}
