import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createClaudeAgent } from '../src/agent/claude/claude-agent.ts';
import { systemChance } from '../src/clock/system-chance.ts';
import { usualOptions } from '../test/agent/claude/claude-scene.ts';
import { claudeHome } from '../test/fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../test/fake/anthropic/fake-anthropic.ts';
import { findClaude } from '../test/real/claude-binary.ts';
import { completeTurn, figure, prompt, requestFor, turnOfOwn } from './agent-turns.ts';
import { processDeps } from './bench-daemon.ts';
import { measureInTurns } from './measure.ts';
import type { Figure } from './report.ts';
import { Scratch } from './scratch.ts';

const turnRounds = 40;
const sessionRounds = 10;

/**
 * The overhead of Baton: a trivial turn of the real Claude Code, whose model on loopback says `ok`, through the agent seam
 * that a run uses, compared with the same turn driven by minimal code. Both use the same home and model, and take turns.
 */
export async function benchClaude(): Promise<readonly Figure[]> {
  const claude = await findClaude();
  if ('missing' in claude) {
    console.error(`claude: skipped. ${claude.missing}`);
    return [];
  }
  using scratch = new Scratch();
  await using model = await startFakeAnthropic();
  const { env: home } = claudeHome(scratch.folder, model.url);
  const cwd = path.join(scratch.folder, 'workspace');
  mkdirSync(cwd);
  const deps = await processDeps();
  const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', ...home };
  const agent = createClaudeAgent(
    { ...usualOptions, command: `'${claude.path}'`, approvals: 'deny', readTimeoutMs: 60_000, turnTimeoutMs: 60_000 },
    { ...deps, daemonEnv: env, allowEnv: ['CLAUDE_*', 'ANTHROPIC_*'], denyEnv: [], accountEnv: {} },
  );
  const bare = { program: claude.path, cwd, env };
  const session = await agent.startSession(requestFor(cwd));
  const open = startBare(bare);
  const acts = [() => completeTurn(session), () => open.runTurn()];
  // The first turn of a conversation sends more than the others.
  await measureInTurns(1, 1, acts);
  const inSession = await measureInTurns(turnRounds, 1, acts);
  await Promise.all([session.stop(), open.close()]);
  const whole = await measureInTurns(sessionRounds, 1, [
    () => turnOfOwn(agent, cwd),
    async () => {
      const own = startBare(bare);
      await own.runTurn();
      await own.close();
    },
  ]);
  const version = `Claude Code ${claude.version}`;
  return [
    figure(`a trivial turn of ${version} in an open session, median of ${turnRounds}`, inSession),
    figure(
      `the same with a session of its own, from its start until no process of it is left (containment ${deps.containment}), median of ${sessionRounds}`,
      whole,
    ),
  ];
}

interface BareOptions {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Claude Code driven by minimal code, with the settings that matter for the time of a turn. */
function startBare({ program, cwd, env }: BareOptions): { runTurn(): Promise<void>; close(): Promise<void> } {
  const mode = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const args = [
    ...mode,
    '--include-partial-messages',
    '--permission-prompt-tool',
    'stdio',
    '--setting-sources',
    'user',
  ];
  const child = spawn(program, [...args, '--strict-mcp-config', '--session-id', systemChance.id()], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let ended = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if ((JSON.parse(line) as { type: string }).type === 'result') ended.resolve();
  });
  return {
    runTurn: async () => {
      ended = Promise.withResolvers();
      const message = { role: 'user', content: [{ type: 'text', text: prompt }] };
      child.stdin.write(`${JSON.stringify({ type: 'user', message, parent_tool_use_id: null, session_id: '' })}\n`);
      await ended.promise;
    },
    close: async () => {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}
