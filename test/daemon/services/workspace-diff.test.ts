import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Diff, diff as diffSchema } from '../../../src/client/schema/run.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createWorkspaceDiff, diffOfIssue } from '../../../src/daemon/services/diff/workspace-diff.ts';
import type { Checkout } from '../../../src/workspace/git/checkout/checkout.ts';
import { runStart } from '../../conformance/store.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { type LookScene, lookScene, scratchGit, watchedGit } from '../../workspace/git/examine-scene.ts';
import { hatchCanary, plantTraps, type Trap, trapGround, traps } from '../../workspace/git/traps.ts';

/** A diff of the workspace; whatever happened, it fits its schema, and nothing is left behind. */
async function diffOf({ workspace, places }: LookScene, checkout: Checkout | null = null): Promise<Diff> {
  const findCheckout = async (): Promise<Checkout | null> => checkout;
  const found = await createWorkspaceDiff({ git: scratchGit(), places, findCheckout, clock: systemClock })(workspace);
  expect(diffSchema.parse(found)).toEqual(found);
  expect(readdirSync(places.scratch)).toEqual([]);
  return found;
}

const shown = ({ files }: Diff) =>
  files.map(({ path: file, status, added, removed }) => [file, status, added, removed]);

describe('the diff of a workspace', () => {
  it('shows committed, uncommitted and new files since the base, each with its patch', async () => {
    const scene = lookScene();
    const checkout = await scene.asCheckout();
    scene.agent(`echo more >> file; git mv dir/other dir/moved; git commit -qam two
      echo uncommitted >> file; printf 'no end' > new; : > empty; echo x > ignored; git rm -q --cached .gitignore; rm .gitignore; echo x > dir/moved2`);
    const found = await diffOf(scene, checkout);
    expect(found).toMatchObject({ base: checkout.baseCommit, branch: 'main', is_cut: false, why_none: null });
    expect(found.head).toMatch(/^[0-9a-f]{40}$/);
    expect(shown(found)).toEqual([
      ['.gitignore', 'deleted', 0, 2],
      ['dir/moved', 'renamed', 0, 0],
      ['file', 'modified', 2, 0],
      ['dir/moved2', 'untracked', 1, 0],
      ['empty', 'untracked', 0, 0],
      ['ignored', 'untracked', 1, 0],
      ['new', 'untracked', 1, 0],
    ]);
    const [, moved, file] = found.files;
    expect(moved?.old_path).toBe('dir/other');
    expect(file?.patch).toContain('@@ -1 +1,3 @@\n one\n+more\n+uncommitted\n');
    expect(found.files.at(-1)?.patch).toBe(
      'diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+no end\n\\ No newline at end of file\n',
    );
  });

  it('compares with the last commit when no base is known, and leaves out ignored files', async () => {
    const scene = lookScene();
    scene.agent(
      'echo more >> file; git commit -qam two; echo x > ignored; echo y > a.log; mkdir sub; echo z > sub/new',
    );
    const found = await diffOf(scene);
    expect(found.base).toBe(found.head);
    expect(shown(found)).toEqual([['sub/new', 'untracked', 1, 0]]);
  });

  it('shows new files in a repository without a commit', async () => {
    const scene = lookScene('git init -q .; echo one > file');
    expect(await diffOf(scene)).toMatchObject({ base: null, head: null, branch: 'main', files: [{ path: 'file' }] });
  });

  it('shows binary files, links, modes and names that are not valid text', async () => {
    const scene = lookScene();
    scene.agent(`printf 'a\\0b' > binary; ln -s /etc/passwd link; chmod +x file; printf x > "$(printf 'na\\377me')"
      echo 'ü' > 'mit leer "zeichen"'; mkdir real; echo secret > real/f; rm dir/other; ln -s file dir/other`);
    const found = await diffOf(scene);
    const byPath = new Map(found.files.map((file) => [file.path, file]));
    expect(byPath.get('binary')).toMatchObject({ status: 'untracked', patch: null, added: null });
    expect(byPath.get('link')?.patch).toContain('new file mode 120000');
    expect(byPath.get('link')?.patch).toContain('+/etc/passwd\n\\ No newline');
    expect(byPath.get('file')?.patch).toContain('new mode 100755');
    expect(byPath.get('dir/other')).toMatchObject({ status: 'modified', added: 1, removed: 1 });
    expect(byPath.get('na%ffme')).toMatchObject({ status: 'untracked' });
    expect(byPath.get('mit leer "zeichen"')?.patch).toContain('+ü\n');
  });

  it('marks conflicts', async () => {
    const scene = lookScene();
    scene.agent(`git checkout -q -b side; echo side > file; git commit -qam side; git checkout -q main
      echo main > file; git commit -qam main; git merge side > /dev/null 2>&1 || :`);
    expect((await diffOf(scene)).files).toMatchObject([{ path: 'file', status: 'conflict' }]);
  });

  it('is not misled by a file that looks like a diff', async () => {
    const scene = lookScene();
    scene.agent(`printf 'diff --git a/x b/x\\n--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n' >> file; echo y >> dir/other`);
    expect(shown(await diffOf(scene))).toEqual([
      ['dir/other', 'modified', 1, 0],
      ['file', 'modified', 4, 0],
    ]);
  });

  it('shows at most 300 files and says that there are more', async () => {
    const scene = lookScene();
    scene.agent(
      'for n in $(seq 1 200); do echo $n > t$n; done; git add -A; for n in $(seq 1 150); do echo $n > u$n; done',
    );
    const checkout = await scene.asCheckout();
    scene.agent('git commit -qm more');
    const found = await diffOf(scene, checkout);
    expect([found.files.length, found.is_cut]).toEqual([300, true]);
    expect(found.files.filter(({ status }) => status === 'added')).toHaveLength(200);
    expect(found.files.every(({ patch }) => patch !== null)).toBe(true);
  });

  // @conforms api.17
  it('leaves out patches that are too large, per file and in total, and still shows small ones', async () => {
    const scene = lookScene();
    const checkout = await scene.asCheckout();
    const lines = (count: number): string => `${'x'.repeat(99)}\n`.repeat(count);
    writeFileSync(path.join(scene.workspace, 'a-huge'), lines(60_000));
    for (let n = 0; n < 12; n += 1) writeFileSync(path.join(scene.workspace, `b${n}`), lines(2_000));
    writeFileSync(path.join(scene.workspace, 'file'), 'two\n');
    scene.agent('git add -A; git commit -qm large');
    writeFileSync(path.join(scene.workspace, 'untracked-huge'), lines(60_000));
    const found = await diffOf(scene, checkout);
    const byPath = new Map(found.files.map((file) => [file.path, file]));
    expect(byPath.get('a-huge')).toMatchObject({ status: 'added', patch: null });
    expect(byPath.get('untracked-huge')).toMatchObject({ status: 'untracked', patch: null });
    expect(byPath.get('b0')?.patch).not.toBeNull();
    const all = found.files.reduce((sum, { patch }) => sum + (patch?.length ?? 0), 0);
    expect(all).toBeGreaterThan(1024 * 1024);
    expect(all).toBeLessThanOrEqual(2 * 1024 * 1024);
  });

  it('shows a small change in a large file', async () => {
    const scene = lookScene();
    writeFileSync(
      path.join(scene.workspace, 'lock'),
      Array.from({ length: 40_000 }, (_, n) => `line number ${n}\n`).join(''),
    );
    scene.agent('git add -A; git commit -qm lock');
    const checkout = await scene.asCheckout();
    scene.agent("sed -i 's/^line number 20000$/changed/' lock");
    expect((await diffOf(scene, checkout)).files).toMatchObject([
      { path: 'lock', added: 1, removed: 1, patch: expect.stringContaining('+changed') },
    ]);
  });

  it('says why there is none', async () => {
    const scene = lookScene(':');
    const plain = await diffOf(scene);
    const missing = await diffOf({ ...scene, workspace: path.join(scene.folder, 'nowhere') });
    for (const each of [plain, missing]) expect(each).toMatchObject({ why_none: expect.any(String), files: [] });
    expect(missing.why_none).not.toBe(plain.why_none);
    const broken = lookScene();
    broken.agent('echo garbage > .git/HEAD');
    expect((await diffOf(broken)).why_none).not.toBeNull();
    const bomb = lookScene();
    bomb.agent('rm -rf .gitignore; mkfifo .gitignore');
    expect((await diffOf(bomb)).why_none).toContain('.gitignore');
  });

  it('reads nothing through a link out of the workspace', async () => {
    const scene = lookScene();
    writeFileSync(path.join(scene.folder, 'outside'), 'canary');
    symlinkSync(scene.folder, path.join(scene.workspace, 'way'));
    const found = await diffOf(scene);
    expect(shown(found)).toEqual([['way', 'untracked', 1, 0]]);
    expect(JSON.stringify(found)).not.toContain('canary');
  });

  it('is built once for all callers that ask at the same time', async () => {
    const { workspace, places } = lookScene();
    const { git, calls } = watchedGit();
    const once = createWorkspaceDiff({ git, places, findCheckout: async () => null, clock: systemClock });
    // What follows from commits is computed only the first time.
    await once(workspace);
    calls.splice(0);
    await once(workspace);
    const alone = calls.splice(0).length;
    await Promise.all(Array.from({ length: 20 }, () => once(workspace)));
    expect(calls).toHaveLength(alone);
  });
});

describe('a hostile repository', () => {
  const trapped = (planted?: readonly Trap[]): LookScene & { readonly canary: ReturnType<typeof hatchCanary> } => {
    const scene = lookScene(trapGround);
    const canary = hatchCanary(path.join(scene.folder, 'cage'));
    plantTraps(scene.workspace, path.join(scene.workspace, '.git'), canary, planted);
    canary.silence();
    return { ...scene, canary };
  };

  // @conforms api.16
  it('runs no program during a diff, with every trap at once', async () => {
    const scene = trapped();
    await diffOf(scene);
    expect(scene.canary.sang()).toEqual([]);
  });

  it.each(traps.filter(({ name }) => /diff|conver|filter|fsmonitor|\.git|promisor/.test(name)))(
    'runs no program and shows the changes, with $name',
    async (trap) => {
      const scene = trapped([trap]);
      const found = await diffOf(scene);
      expect(scene.canary.sang()).toEqual([]);
      if (found.why_none !== null) return;
      const file = found.files.find((each) => each.path === 'file');
      if (trap.isAlone !== true && !/promisor/.test(trap.name)) expect(file?.patch).toContain('\n+changed\n');
    },
  );
});

describe('the diff of an issue', () => {
  const none = { base: null, head: null, branch: null, files: [], is_cut: false, why_none: null };
  const diffAt = async (workspace: string): Promise<Diff> => ({ ...none, why_none: `looked at ${workspace}` });

  it('is that of the workspace of its latest run that had one, while the workspace exists', async () => {
    const { runs } = await scratchStore(systemClock);
    const why = async () => (await diffOfIssue({ runs, project: 'alpha' }, 'i1', diffAt, async () => none)).why_none;
    expect(await why()).toEqual(expect.any(String));
    expect(await why()).not.toContain('looked at');
    await runs.start(runStart('r1'));
    await runs.record('r1', 1, { workspace: '/w/one' });
    await runs.start(runStart('r2', { generation: 2 }));
    expect(await why()).toBe('looked at /w/one');
    await runs.noteRemoval('r1', { at: 1, keptBecause: 'it is pinned', saved: [] });
    expect(await why()).toBe('looked at /w/one');
    const saved = [{ name: 'n', files: 1, commits: 0, restore: 'baton salvage restore n' }];
    await runs.noteRemoval('r1', { at: 2, keptBecause: null, saved });
    expect(await why()).toContain('baton salvage restore n');
    await runs.record('r2', 2, { workspace: '/w/one' });
    expect(await why()).toBe('looked at /w/one');
  });
});
