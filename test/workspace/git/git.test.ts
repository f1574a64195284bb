import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../../src/process/containment/is-alive.ts';
import type { Git } from '../../../src/workspace/git/git.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { scratchGit, shell } from './examine-scene.ts';

/** A git that is a script, to see how the daemon calls it. */
function gitThat(script: string, env: Record<string, string> = {}): { git: Git; folder: string } {
  const folder = scratchFolder();
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'git'), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(bin, 'git'), 0o755);
  return { git: scratchGit({ PATH: `${bin}:${process.env.PATH}`, ...env }), folder };
}

function repository(): string {
  const folder = scratchFolder();
  shell('git init -q .; echo one > file; git add -A; git commit -qm one', folder);
  return path.join(folder, '.git');
}

describe('a call of git', () => {
  it('returns the output of git, one character per byte', async () => {
    const gitDir = repository();
    const name = Buffer.from([0x61, 0xff, 0xc3, 0xa4]);
    shell(`touch "$(printf 'a\\377\\303\\244')"`, path.dirname(gitDir));
    const text = await scratchGit().run({ args: ['ls-files', '-z', '-o'], gitDir, workTree: path.dirname(gitDir) });
    expect(text).toBe(`${name.toString('latin1')}\0`);
  });

  it('rejects or answers with the message of git when it fails', async () => {
    const call = { args: ['rev-parse', '--verify', 'nothing'], gitDir: repository() };
    const error = await rejection(scratchGit().run(call));
    const said = expect.stringContaining('Needed a single revision');
    expect(error).toMatchObject({ code: 'git_failed', message: said, details: { args: call.args, code: 128, said } });
    expect(await scratchGit().ask(call)).toMatchObject({ code: 128, stdout: '' });
  });

  it('reports a missing git', async () => {
    const folder = scratchFolder();
    expect(await rejection(scratchGit({ PATH: folder }).run({ args: ['version'], gitDir: null }))).toMatchObject({
      code: 'git_missing',
    });
  });

  it('is ended on timeout with everything it started', async () => {
    const { git, folder } = gitThat('sleep 60 & echo $! > "$GIT_DIR/pid"; wait');
    const call = { args: ['status'], gitDir: folder, timeoutMs: 500 };
    expect(await rejection(git.run(call))).toMatchObject({ code: 'git_timeout' });
    const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
    expect(isAlive({ pid, startTime: null })).toBe(false);
  });

  it('is ended by its signal, and does not start after it', async () => {
    const { git, folder } = gitThat('echo begun >> "$GIT_DIR/begun"; exec sleep 60');
    const aborting = new AbortController();
    const running = git.run({ args: ['x'], gitDir: folder, signal: aborting.signal });
    while (!existsSync(path.join(folder, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 10));
    aborting.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await expect(git.run({ args: ['x'], gitDir: folder, signal: aborting.signal })).rejects.toThrow('enough');
    expect(readFileSync(path.join(folder, 'begun'), 'utf8')).toBe('begun\n');
  });

  it('fails rather than returns half of an output above the limit', async () => {
    const { git } = gitThat('head -c 5000 /dev/zero');
    const call = { args: ['log'], gitDir: null };
    expect(await rejection(git.run({ ...call, maxOutputBytes: 4999 }))).toMatchObject({ code: 'git_failed' });
    expect(await git.run({ ...call, maxOutputBytes: 5000 })).toHaveLength(5000);
  });

  it('fails when git was killed', async () => {
    const { git } = gitThat('kill -9 $$');
    expect(await rejection(git.ask({ args: ['gc'], gitDir: null }))).toMatchObject({
      code: 'git_failed',
      message: expect.stringContaining('SIGKILL'),
    });
  });

  // @conforms git.19
  it('waits while four others run, in the order of the calls', async () => {
    const { git, folder } = gitThat(
      'echo "+" >> "$GIT_DIR/log"; while ! test -e "$GIT_DIR/go"; do sleep 0.05; done; echo "- $GIT_INDEX_FILE" >> "$GIT_DIR/log"',
    );
    const log = () => (existsSync(path.join(folder, 'log')) ? readFileSync(path.join(folder, 'log'), 'utf8') : '');
    const all = Array.from({ length: 10 }, (_none, index) =>
      git.run({ args: ['x'], gitDir: folder, indexFile: String(index) }),
    );
    while (log().length < 8) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(log()).toBe('+\n'.repeat(4));
    writeFileSync(path.join(folder, 'go'), '');
    await Promise.all(all);
    let running = 0;
    for (const line of log().trim().split('\n')) {
      running += line === '+' ? 1 : -1;
      expect(running).toBeLessThanOrEqual(4);
    }
    expect(running).toBe(0);
  });

  it('lets the next one run after a failure', async () => {
    const { git } = gitThat('exit 3');
    const answers = await Promise.all(Array.from({ length: 12 }, () => git.ask({ args: ['x'], gitDir: null })));
    expect(answers.map(({ code }) => code)).toEqual(Array.from({ length: 12 }, () => 3));
    const missing = scratchGit({ PATH: '/nonexistent' });
    for (let count = 0; count < 6; count += 1)
      expect(await rejection(missing.run({ args: ['x'], gitDir: null }))).toMatchObject({ code: 'git_missing' });
  });
});

describe('the environment of a call of git', () => {
  const secrets = {
    LINEAR_API_KEY: 'secret',
    GIT_DIR: '/wrong',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: 'false',
    GIT_SSH_COMMAND: 'false',
    GIT_EXTERNAL_DIFF: 'false',
    GIT_TRACE: '/tmp/trace',
    LD_PRELOAD: '',
    HOME: '/home/person',
    SSH_AUTH_SOCK: '/agent',
    XDG_CONFIG_HOME: '/x',
  };

  // @conforms git.17
  it('has no secret of the daemon, and nothing that controls git', async () => {
    const { git } = gitThat('env', secrets);
    const text = await git.run({ args: ['x'], gitDir: '/', workTree: '/tmp' });
    const names = text
      .trim()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf('=')));
    for (const name of Object.keys(secrets)) {
      if (name === 'HOME' || name === 'GIT_DIR') continue;
      expect(names).not.toContain(name);
    }
    expect(text).toContain('HOME=/nonexistent\n');
    expect(text).toContain('GIT_DIR=/\n');
    expect(text).toContain('GIT_CONFIG_GLOBAL=/dev/null\n');
  });

  it('has the home and the ssh agent of the person only for the network, and never the secrets', async () => {
    const { git } = gitThat('env', secrets);
    const text = await git.run({ args: ['x'], gitDir: '/', network: true });
    expect(text).toContain('HOME=/home/person\n');
    expect(text).toContain('SSH_AUTH_SOCK=/agent\n');
    expect(text).not.toMatch(/LINEAR|GIT_SSH_COMMAND|GIT_CONFIG_KEY|GIT_EXTERNAL_DIFF|GIT_TRACE/);
  });

  it('reads the configuration of the person only for the network', async () => {
    const home = scratchFolder();
    writeFileSync(path.join(home, '.gitconfig'), '[user]\n\tname = Person\n');
    const git = scratchGit({ HOME: home });
    const call = { args: ['config', 'user.name'], gitDir: repository() };
    expect(await git.ask(call)).toMatchObject({ code: 1, stdout: '' });
    expect(await git.ask({ ...call, network: true })).toMatchObject({ stdout: 'Person\n' });
  });

  it('never prompts for a password', async () => {
    const { git } = gitThat('env');
    const text = await git.run({ args: ['x'], gitDir: null, network: true });
    expect(text).toMatch(/^GIT_TERMINAL_PROMPT=0$/m);
    expect(text).toMatch(/^GIT_ASKPASS=$/m);
    expect(text).toMatch(/^SSH_ASKPASS=$/m);
  });

  it('borrows from folders with any names', async () => {
    const lender = repository();
    const odd = path.join(scratchFolder(), 'a:b "c\\d\ne ä');
    shell('mv "$from" "$to"', '/', { from: lender, to: odd });
    const id = shell('git rev-parse HEAD:file', odd, { GIT_DIR: odd }).trim();
    const call = { args: ['cat-file', '-p', id], gitDir: repository() };
    shell('rm -rf objects/??', call.gitDir);
    expect((await scratchGit().ask(call)).code).not.toBe(0);
    expect(await scratchGit().run({ ...call, borrowed: [`${odd}/objects`] })).toBe('one\n');
  });

  // @conforms git.18
  it('shows no password of an address, wherever git repeats it', async () => {
    const args = ['ls-remote', 'https://person:hunter2@localhost:1/x.git'];
    const real = await rejection(scratchGit().run({ args, gitDir: null, network: true }));
    for (const said of [
      "fatal: unable to access 'https://person:hunter2@localhost/x': refused",
      'fatal: https://hunter2@host/x and ssh://u:hunter2@h:22/y',
      "fatal: 'https://person:p@ss:hunter2@localhost/x' is not there",
    ]) {
      const { git } = gitThat(`echo "${said}" >&2; exit 128`);
      const error = await rejection(git.run({ args, gitDir: null }));
      expect(JSON.stringify(error)).not.toContain('hunter2');
      expect(error.message).toContain('fatal: ');
    }
    expect(JSON.stringify(real)).not.toContain('hunter2');
  });
});
