// @module-tag full
import { chmodSync, copyFileSync, cpSync, linkSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { presets } from '../../src/agent/acp/presets.ts';
import { pinnedClaudeVersion } from '../../src/agent/claude/pinned-version.ts';
import { pinnedCodexVersion } from '../../src/agent/codex/pinned-version.ts';
import { batonCommand, leaveNoPlaces, Place, type RunningBaton, startProgram } from '../cli/run-baton.ts';
import { fakeModelVariables } from '../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../fake/anthropic/fake-anthropic.ts';
import type { FakeModel } from '../fake/fake-model.ts';
import { codexHome } from '../fake/openai/codex-home.ts';
import { startFakeOpenAi } from '../fake/openai/fake-openai.ts';
import { type Scenario, shell, type ToolCall } from '../fake/openai/scenario.ts';
import { folderOnDisk } from '../temporary-folder.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { type AcpProgram, describeWithAcp } from './acp-programs.ts';
import { bash } from './claude/claude-scene.ts';
import { describeWithClaude } from './claude-binary.ts';
import { describeWithCodex } from './codex-binary.ts';

leaveNoPlaces();

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const acpPage = readFileSync(new URL('../../docs/agents/acp.md', import.meta.url), 'utf8');

/** The blocks of commands of README's first real project. */
function blocks(): string[][] {
  const [section = ''] = /^## A first real project, with Codex\n.*?(?=^## )/ms.exec(readme) ?? [];
  return [...section.matchAll(/```sh\n(?<commands>.*?)```/gs)].map(({ groups }) =>
    (groups?.commands ?? '').trim().split('\n'),
  );
}

const withAgent = (name: string): string[][] =>
  blocks().map((block) => block.map((line) => line.replace('--agent codex', `--agent ${name}`)));

/** Follows the prompt of `baton init` and the issue: asks, writes the answer, commits, moves the issue. */
const diligent = (
  run: (command: string) => ToolCall,
  own: (name: string, input: Readonly<Record<string, unknown>>) => ToolCall,
): Scenario => ({
  rules: [
    {
      when: /Ask me for the words first/,
      steps: [
        { calls: [own('ask_person', { question: 'Which words?' })] },
        {
          calls: [
            run(
              'echo "Hello, reader!" > hello.txt && git add --all && git commit --quiet --message "Greet the reader"',
            ),
          ],
        },
        { calls: [own('update_issue_status', { status: 'review' })] },
        { message: 'The reader is greeted.' },
      ],
    },
  ],
  otherwise: [{ message: 'There is nothing to do.' }],
});

/** A call of a tool of Baton, where its name begins with this. */
const toolsOf =
  (prefix: string) =>
  (name: string, input: Readonly<Record<string, unknown>>): ToolCall => ({
    name: `${prefix}${name}`,
    arguments: input,
  });

/** A daemon, an agent and its model, on two busy cores. */
const patience = { timeout: 150_000, interval: 500 };

await describeWithCodex("README's first real project", (codex) => {
  // @conforms tools.27
  it('works word for word, with a model on loopback', async () => {
    await using model = await startFakeOpenAi(diligent(shell, toolsOf('')));
    using place = new Place({}, folderOnDisk());
    const source = prepare(place, 'codex', codex.path);
    symlinkSync(codexHome(place.folder, model.url).home, path.join(place.home, '.codex'));
    // One needs a registry and the other a browser; both come before the folder of the project.
    for (const text of [`\`npm install --global @openai/codex@${pinnedCodexVersion}\``, '`codex login`'])
      expect(readme).toContain(text);
    await follow(place, source, blocks(), model);
  }, 180_000);
});

await describeWithClaude("README's first real project", (claude) => {
  it('works word for word with the other agent, as README says', async () => {
    for (const text of [
      `\`npm install --global @anthropic-ai/claude-code@${pinnedClaudeVersion}\``,
      '`claude auth login`',
      '`--agent claude`',
    ])
      expect(readme).toContain(text);
    await using model = await startFakeAnthropic(diligent(bash, toolsOf('mcp__baton__')));
    using place = new Place(fakeModelVariables(model.url), folderOnDisk());
    const source = prepare(place, 'claude', claude.path);
    await follow(place, source, withAgent('claude'), model);
  }, 180_000);
});

await describeWithAcp("README's first real project", (program) => {
  it('works word for word with an agent of the protocol, as README and its page say', async () => {
    const { preset } = program;
    const isUsual = preset === 'claude-agent-acp';
    if (isUsual) expect(acpPage).toContain(presets[preset].install);
    else expect(acpPage).toContain('`--preset` names another program');
    expect(readme).toContain('`--agent acp`');
    await using model = await program.startModel(diligent(program.bash, program.own));
    using place = new Place({}, folderOnDisk());
    const source = prepare(place, preset, installGlobally(program, path.join(place.home, '.npm-global')));
    const login = Object.entries(program.login(place.home, model.url)).map(
      ([name, value]) => `export ${name}='${value}'\n`,
    );
    place.write('home/.bash_profile', place.read('home/.bash_profile') + login.join(''));
    await follow(place, source, withAgent(isUsual ? 'acp' : `acp --preset ${preset}`), model);
  });
});

/** Types the commands of the blocks, and checks what a person sees and has in the end. */
async function follow(place: Place, source: string, blocks: readonly string[][], model: FakeModel): Promise<void> {
  const [first = [], second = []] = blocks;
  const [start, ...others] = first.toReversed();
  for (const command of others.toReversed()) await succeed(place, source, command);
  const daemon = inShell(place, source, start ?? '');
  const [list = '', answer = '', diff = '', merge = ''] = second;
  await expect.poll(() => succeed(place, source, list), patience).toContain('Which words?');
  await succeed(place, source, answer);
  await expect.poll(() => succeed(place, source, 'baton issue show BAT-1'), patience).toMatch(/\breview\b/);
  await expect.poll(async () => (await inShell(place, source, diff).ended).stdout, patience).toContain('hello.txt');
  await succeed(place, source, merge);
  expect(readFileSync(path.join(source, 'hello.txt'), 'utf8')).toBe('Hello, reader!\n');
  expect(git(source, 'log', '-1', '--format=%s')).toContain('Greet the reader');
  expect(await succeed(place, source, 'baton issue show BAT-1')).toContain('done');

  daemon.child.kill('SIGINT');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  expect(place.pids()).toEqual([]);
  // The answer that the agent got before it wrote anything.
  const told = model.requests.find(({ conversation: { round } }) => round === 1)?.conversation.lastOutput;
  expect(told).toContain('Hello, reader!');
}

/** As `npm install --global` does it. The cache has each large program once for all tests; npm puts it next to the others. */
function installGlobally({ folder, file, byHand }: AcpProgram, prefix: string): string {
  const modules = path.join(prefix, 'lib/node_modules');
  const own = path.join(folder, 'node_modules');
  const large = byHand.slice(0, byHand.indexOf('/node_modules/') + '/node_modules'.length);
  for (const from of new Set([own, large]))
    cpSync(from, modules, { recursive: true, filter: (each) => each !== byHand });
  const target = path.join(modules, path.relative(large, byHand));
  try {
    linkSync(byHand, target);
  } catch {
    copyFileSync(byHand, target);
  }
  return path.join(modules, path.relative(own, file));
}

/** A home in which `baton` and the agent are installed, and a repository. */
function prepare(place: Place, name: string, program: string): string {
  mkdirSync(path.join(place.home, 'bin'));
  symlinkSync(program, path.join(place.home, 'bin', name));
  chmodSync(place.write('home/bin/baton', `#!/bin/sh\nexec ${batonCommand()} "$@"\n`), 0o755);
  place.write('home/.bash_profile', 'PATH=$HOME/bin:$PATH\n');
  place.write('home/.gitconfig', '[user]\n\tname = A\n\temail = a@example.org\n');
  return scratchRepository(path.join(place.folder, 'source'));
}

/** As a person types it. */
function inShell(place: Place, folder: string, command: string): RunningBaton {
  const line = command.startsWith('baton start') ? `exec ${command}` : command;
  return startProgram(place, 'bash', ['-lc', `cd '${folder}' && ${line}`]);
}

async function succeed(place: Place, folder: string, command: string): Promise<string> {
  const { code, stdout, stderr } = await inShell(place, folder, command).ended;
  expect({ command, code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ command, code: 0, stderr: '' });
  return stdout;
}
