// @module-tag full
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { acpBackend } from '../../src/agent/acp/acp-backend.ts';
import type { AgentBackend } from '../../src/agent/backend.ts';
import { claudeBackend } from '../../src/agent/claude/claude-backend.ts';
import { codexBackend } from '../../src/agent/codex/codex-backend.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';
import { settings as settingsWith } from '../fake/settings.ts';
import { isolatedAs } from './isolated-as.ts';
import { describeIsolated } from './machine.ts';

const canary = 'canary';

/** The folder of an agent's login, as a person has it who works on other projects too. */
interface Home {
  readonly name: string;
  readonly backend: AgentBackend;
  readonly folder: string;
  /** Names the folder where it is elsewhere; null: nothing does. */
  readonly variable: string | null;
  readonly login: string;
  /** What the person's own agent follows and runs. */
  readonly settings: readonly string[];
  /** What people and agents said in other projects. */
  readonly conversations: readonly string[];
  /** Where the agent writes its conversation. */
  readonly own: (workspace: string) => string;
  /** What the program keeps elsewhere in the home: as the settings, and as the conversations. */
  readonly outside?: { readonly settings: readonly string[]; readonly conversations: readonly string[] };
  /** Leads the isolated program to its own conversation. */
  readonly database?: string;
}

function acpWith(preset: string): AgentBackend {
  const usual = settingsWith();
  const acp = { ...(usual.backends.acp as object), command: null, mode: null, model: null, tools: [], preset };
  return { ...acpBackend, needs: () => acpBackend.needs({ ...usual, backends: { ...usual.backends, acp } }) };
}

const homes: readonly Home[] = [
  {
    name: 'codex',
    backend: codexBackend,
    folder: '.codex',
    variable: 'CODEX_HOME',
    login: 'auth.json',
    settings: ['config.toml', 'AGENTS.md', 'hooks.json', 'skills/mine/SKILL.md', 'prompts/a.md', 'rules/default.rules'],
    conversations: [
      ...['sessions/2026/01/02/rollout-other.jsonl', 'sessions/baton/other/2026/01/02/rollout.jsonl', 'history.jsonl'],
      ...['archived_sessions/rollout-old.jsonl', 'logs_2.sqlite', 'memories/summary.md'],
    ],
    own: () => 'sessions/2026/02/03/rollout-own.jsonl',
  },
  {
    name: 'claude',
    backend: claudeBackend,
    folder: '.claude',
    variable: 'CLAUDE_CONFIG_DIR',
    login: '.credentials.json',
    settings: ['settings.json', 'CLAUDE.md', 'agents/a.md', 'commands/a.md', 'hooks/a.sh', 'plugins/config.json'],
    conversations: [
      ...['projects/-other/a.jsonl', 'projects/-other/memory/MEMORY.md', 'history.jsonl', 'todos/a.json'],
      ...['file-history/a/b', 'shell-snapshots/a.sh', 'paste-cache/a.txt'],
    ],
    own: (workspace) => `projects/${workspace.replaceAll(/[^a-zA-Z0-9]/g, '-')}/own.jsonl`,
  },
  {
    name: 'opencode',
    backend: acpWith('opencode'),
    folder: '.local/share/opencode',
    variable: null,
    login: 'auth.json',
    settings: ['bin/rg'],
    conversations: [
      ...['opencode.db', 'opencode.db-wal', 'storage/session/a.json', 'snapshot/a/config', 'log/a.log'],
      ...['baton/0123456789abcdef/opencode.db', 'tool-output/a'],
    ],
    own: () => 'baton/opencode.db',
    outside: {
      settings: ['.config/opencode/plugin/a.js', '.config/opencode/opencode.json', '.cache/opencode/packages/a.js'],
      conversations: ['.local/state/opencode/prompt-history.jsonl'],
    },
    database: 'baton/opencode.db',
  },
  {
    name: 'gemini',
    backend: acpWith('gemini'),
    folder: '.gemini',
    variable: null,
    login: 'oauth_creds.json',
    settings: ['settings.json', 'GEMINI.md', 'extensions/a/gemini-extension.json', 'commands/a.toml'],
    conversations: ['tmp/other/chats/session.json', 'tmp/other/logs.json', 'history/other/config', 'memory/a.md'],
    own: () => 'tmp/own/chats/session.json',
  },
];

/** Where the folder is: in the home, there by a link, or named by a variable. */
const places = ['in the home', 'behind a link in the home', 'elsewhere'] as const;

for (const home of homes)
  describeIsolated(`an isolated agent of ${home.name}`, { timeout: 120_000 }, () => {
    it.each(home.variable === null ? places.slice(0, 2) : places)(
      'finds no other conversation, and plants nothing for the person: folder %s',
      async (where) => {
        const { backend, login, settings, conversations, outside = { settings: [], conversations: [] } } = home;
        const scene = await sceneOf(home, where);
        const { folder, read, run, workspace } = scene;
        const own = home.own(workspace);
        const works = await run(`cat "$1/${login}" "$1/${settings[0]}" && echo renewed > "$1/${login}" &&
        mkdir -p "$(dirname "$1/${own}")" && echo said > "$1/${own}" && echo mine > "$1/${settings[0]}"`);
        expect(works).toMatchObject({ code: 0, stdout: 'original\noriginal\n', stderr: '' });
        const reads = await run(`grep -rs ${canary} "$1" ~ "$2"; find "$1" -type f | xargs cat; exit 7`);
        expect(reads.code).toBe(7);
        expect(reads.stdout).not.toContain(canary);
        const inFolder = [...settings, ...conversations].map((each) => `$1/${each}`);
        const inHome = [...outside.settings, ...outside.conversations].map((each) => `$HOME/${each}`);
        const planted = [...inFolder, ...inHome].flatMap((each) => [
          `mkdir -p "$(dirname "${each}")"; echo evil > "${each}"; rm -f "${each}"`,
          `echo evil > new; mv -f new "${each}"; ln -sf /tmp/evil "${each}"; chmod 777 "${each}"`,
        ]);
        const more = 'echo evil > ~/.claude.json; echo evil > "$1/new-settings.json"; mv "$1" "$1-away"; exit 7';
        expect((await run([...planted, more].join('\n'))).code).toBe(7);
        expect(read(login)).toBe('renewed\n');
        for (const each of settings) expect([each, read(each)]).toEqual([each, 'original\n']);
        for (const each of conversations) expect([each, read(each)]).toEqual([each, `${canary}\n`]);
        const atHome = (each: string): string => readFileSync(path.join(scene.home, each), 'utf8');
        for (const each of outside.settings) expect([each, atHome(each)]).toEqual([each, 'original\n']);
        for (const each of outside.conversations) expect([each, atHome(each)]).toEqual([each, `${canary}\n`]);
        expect(readdirSync(folder)).not.toContain('new-settings.json');
        if (where !== 'elsewhere')
          expect(readFileSync(path.join(scene.home, '.claude.json'), 'utf8')).toBe('original\n');
        // The next run of the same workspace has its conversation, and a run of another has not.
        expect(await run(`cat "$1/${own}"`)).toMatchObject({ code: 0, stdout: 'said\n' });
        const elsewhere = backend === claudeBackend ? { stdout: '' } : await run(`cat "$1/${own}"`, `${workspace}-2`);
        expect(elsewhere.stdout).toBe('');
        expect((await run('echo "$OPENCODE_DB"')).stdout.trim()).toBe(
          home.database === undefined ? '' : path.join(scene.named, home.database),
        );
      },
    );
  });

async function sceneOf(
  { backend, folder: name, variable, login, settings, conversations, outside }: Home,
  where: (typeof places)[number],
) {
  const around = path.join(import.meta.dirname, '../../node_modules/.cache');
  mkdirSync(around, { recursive: true });
  const base = realpathSync(mkdtempSync(path.join(around, 'baton-home-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const home = path.join(base, 'user-home');
  const folder = path.join(where === 'in the home' ? home : path.join(base, 'elsewhere'), name);
  const named = where === 'elsewhere' ? folder : path.join(home, name);
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  };
  for (const each of [login, ...settings]) write(path.join(folder, each), 'original');
  for (const each of conversations) write(path.join(folder, each), canary);
  for (const each of ['.claude.json', ...(outside?.settings ?? [])]) write(path.join(home, each), 'original');
  for (const each of outside?.conversations ?? []) write(path.join(home, each), canary);
  mkdirSync(path.dirname(named), { recursive: true });
  if (where === 'behind a link in the home') symlinkSync(folder, named);
  const workspace = path.join(base, 'workspaces', 'own');
  for (const each of [workspace, `${workspace}-2`]) mkdirSync(each, { recursive: true });
  const daemonEnv = {
    PATH: process.env.PATH,
    HOME: home,
    ...(where === 'elsewhere' && variable ? { [variable]: folder } : {}),
  };
  const parts = { clock: systemClock, daemonId: systemChance.id(), daemonEnv };
  const isolate = await isolatedAs(backend, base, parts);
  const run = async (script: string, cwd = workspace) =>
    runToEnd(
      {
        ...{ command: '/bin/sh', args: ['-c', script, 'sh', named, base], cwd, timeoutMs: 60_000 },
        env: { PATH: process.env.PATH ?? '', HOME: home },
        runId: systemChance.id(),
        isolation: await isolate({ workspace: cwd, writes: [], reads: [] }),
      },
      { ...parts, containment: 'user_pid_namespace' },
    );
  return { folder, named, home, workspace, run, read: (each: string) => readFileSync(path.join(folder, each), 'utf8') };
}
