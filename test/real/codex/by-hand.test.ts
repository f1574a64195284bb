// @module-tag full
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { codexResumeCommand } from '../../../src/agent/codex/resume-command.ts';
import { shell } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { type CodexScene, useCodexScenes } from './codex-scene.ts';

const makeTerminal = '/usr/bin/script';

/** The folder of the test may be below the folder for temporary files, which a sandbox allows. */
const narrow = '[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true';

await describeWithCodex('a person in the thread of a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);

  // @conforms runs.66
  it('opens it with the printed command, commits, blocks others while it is open, and leaves nothing behind', async ({
    skip,
  }) => {
    skip(!existsSync(makeTerminal), 'there is no script(1) here to make a terminal with');
    const commit = 'git add -A && git -c user.name=S -c user.email=s@example.org commit -qm "by hand"';
    const scene = await makeScene({
      scenario: { rules: [{ when: /Commit it/, steps: [{ calls: [shell(commit)] }, { message: 'committed' }] }] },
      // The sandbox of the person, narrower than that of a turn.
      home: { sandboxMode: 'read-only', more: narrow },
      options: { threadSandbox: 'workspace-write', turnSandboxPolicy: null },
    });
    const { workspace } = scene;
    const gitDir = path.join(scene.folder, 'git directory');
    execFileSync('git', ['init', '-q', '--separate-git-dir', gitDir, workspace]);
    const first = await scene.open({ writableRoots: [gitDir] });
    await first.complete('The word is kite.');
    await first.session.stop();
    const threadId = first.session.threadId ?? '';
    execFileSync('touch', [path.join(workspace, 'made.txt')]);

    const line = codexResumeCommand({ workspace, threadId, home: null, sandbox: 'workspace-write', gitDir });
    const person = openByHand(scene, codex.path, `${line} 'Commit it.'`);
    await person.sees('Open restricted');
    await person.presses('\r', 'committed');
    expect(execFileSync('git', ['log', '--format=%s'], { cwd: workspace, encoding: 'utf8' })).toBe('by hand\n');
    await expect(scene.open({ threadId })).rejects.toMatchObject({
      code: 'agent_thread_in_use',
      message: expect.stringContaining('already has an active writer'),
    });
    person.types('/quit');
    await person.sees('exit Codex');
    person.types('\r');
    expect(await person.ended).toBe(0);

    const second = await scene.open({ threadId });
    expect(second.session).toMatchObject({ isResumed: true, threadId });
    await second.complete('Which word?');
    expect(scene.model.requests.at(-1)?.conversation.memory).toMatch(
      /The word is kite\.[\s\S]*Commit it\.[\s\S]*committed[\s\S]*Which word\?/,
    );
    expect(readFileSync(path.join(scene.env.CODEX_HOME ?? '', 'config.toml'), 'utf8')).not.toContain('trust_level');
  });
});

interface Person {
  /** Waits until this is on the terminal. */
  sees(text: string): Promise<void>;
  /** Presses a key until this is on the terminal: a key that comes too soon after a question is ignored. */
  presses(key: string, text: string): Promise<void>;
  types(text: string): void;
  readonly ended: Promise<number | null>;
}

/** Runs a line in a terminal, where `codex` is the program under test. */
function openByHand({ folder, env }: CodexScene, program: string, line: string): Person {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(program, path.join(bin, 'codex'));
  const child = spawn(makeTerminal, ['-qfec', `stty cols 120 rows 40; ${line}`, '/dev/null'], {
    cwd: folder,
    env: { ...env, PATH: `${bin}:${process.env.PATH}`, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    // It has the marks of a run, and Baton takes every program of its session for the agent of that run.
    detached: true,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    // It asks for the position of the cursor, and a terminal answers.
    if (text.includes('\u001b[6n')) child.stdin.write('\u001b[1;1R');
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const sees: Person['sees'] = (text) => expect.poll(() => stripVTControlCharacters(seen)).toContain(text);
  return {
    sees,
    presses: async (key, text) => {
      const again = setInterval(() => child.stdin.write(key), 500);
      await sees(text).finally(() => clearInterval(again));
    },
    types: (text) => void child.stdin.write(text),
    ended,
  };
}
