import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Diff, diff as diffSchema } from '../../../src/client/schema/run.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Publication, RunEvidence } from '../../../src/core/run/run-evidence.ts';
import type { RepositorySettings } from '../../../src/core/settings.ts';
import { createPublishedDiff, diffOfIssue } from '../../../src/daemon/services/diff/workspace-diff.ts';
import { folderName } from '../../../src/workspace/git/git-places.ts';
import { runStart } from '../../conformance/store.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { type LookScene, lookScene, scratchGit, shell } from '../../workspace/git/examine-scene.ts';
import { hatchCanary, plantTraps, trapGround } from '../../workspace/git/traps.ts';

const local = ({ workspace }: LookScene): RepositorySettings => ({
  location: workspace,
  shown: workspace,
  isLocal: true,
});

/** What the repository of the scene shows of such evidence; it fits its schema, and nothing is left behind. */
async function diffOf(
  scene: LookScene,
  evidence: RunEvidence,
  repo: RepositorySettings | null = local(scene),
): Promise<Diff> {
  const { places } = scene;
  const found = await createPublishedDiff({ git: scratchGit(), places, clock: systemClock, repo: () => repo })(
    evidence,
  );
  expect(diffSchema.parse(found)).toEqual(found);
  expect(readdirSync(places.scratch)).toEqual([]);
  return found;
}

const evidenceOf = (head: string, ahead: number | null, publication?: Partial<Publication>): RunEvidence => ({
  changed: true,
  fingerprint: 'f',
  git: { head, branch: 'baton/t-1', ahead, changed: 0, untracked: 0, conflicts: 0 },
  ...(publication === undefined
    ? {}
    : {
        publication: {
          outcome: 'published',
          branch: 'baton/t-1',
          commit: head,
          before: null,
          reason: null,
          elsewhere: null,
          ...publication,
        },
      }),
});

const shown = ({ files }: Diff) =>
  files.map(({ path: file, status, added, removed }) => [file, status, added, removed]);

/** Two commits on the branch of a ticket, merged since, and the main branch has gone on. */
function mergedBranch(scene: LookScene): { base: string; head: string } {
  const base = scene.agent('git rev-parse HEAD').trim();
  scene.agent(`git checkout -q -b baton/t-1; echo more >> file; git mv dir/other dir/moved; git commit -qam two
    echo x > new; git add -A; git commit -qm three; git checkout -q main
    echo y > elsewhere; git add -A; git commit -qm other; git merge -q --no-ff -m merge baton/t-1; echo z >> file; git commit -qam four`);
  return { base, head: scene.agent('git rev-parse baton/t-1').trim() };
}

describe('the diff of published work', () => {
  // @conforms api.64
  it('shows its commits against their base, also when they are merged and the branch is gone', async () => {
    const scene = lookScene();
    const { base, head } = mergedBranch(scene);
    scene.agent('git branch -qD baton/t-1; echo dirty >> file');
    const found = await diffOf(scene, evidenceOf(head, 2, {}));
    expect(found).toMatchObject({ base, head, branch: 'baton/t-1', is_cut: false, why_none: null });
    expect(shown(found)).toEqual([
      ['dir/moved', 'renamed', 0, 0],
      ['file', 'modified', 1, 0],
      ['new', 'added', 1, 0],
    ]);
    expect(found.files[1]?.patch).toContain('@@ -1 +1,2 @@\n one\n+more\n');
  });

  it('finds the base of a branch into which others were merged', async () => {
    const scene = lookScene();
    const base = scene.agent('git rev-parse HEAD').trim();
    scene.agent(`git checkout -q -b side; for n in 1 2 3; do echo $n >> dir/other; git commit -qam s$n; done
      git checkout -q -b baton/t-1 main; echo a >> file; git commit -qam a
      git merge -q --no-ff -m merge side; echo b >> file; git commit -qam b; git checkout -q main`);
    const head = scene.agent('git rev-parse baton/t-1').trim();
    const ahead = Number(scene.agent(`git rev-list --count ${base}..${head}`));
    expect(ahead).toBe(6);
    const found = await diffOf(scene, evidenceOf(head, ahead));
    expect([found.base, shown(found)]).toEqual([
      base,
      [
        ['dir/other', 'modified', 3, 0],
        ['file', 'modified', 2, 0],
      ],
    ]);
    // No commit of its line has this distance: it is not guessed.
    expect((await diffOf(scene, evidenceOf(head, 4))).why_none).toContain(' log --patch baton/t-1');
  });

  it('is empty for a branch without its own commits, and for a bare repository', async () => {
    const scene = lookScene();
    const { head } = mergedBranch(scene);
    shell(`git clone -q --bare workspace bare.git`, scene.folder);
    const bare = path.join(scene.folder, 'bare.git');
    const repo = { location: bare, shown: bare, isLocal: true };
    expect(await diffOf(scene, evidenceOf(head, 0), repo)).toMatchObject({ base: head, files: [], why_none: null });
    expect((await diffOf(scene, evidenceOf(head, 2), repo)).files).toHaveLength(3);
  });

  it('reads the local copy of a remote repository', async () => {
    const scene = lookScene();
    const { head } = mergedBranch(scene);
    const repo = { location: 'https://example.com/r.git', shown: 'https://example.com/r.git', isLocal: false };
    const evidence = evidenceOf(head, 2);
    expect((await diffOf(scene, evidence, repo)).why_none).toContain(
      'git fetch origin baton/t-1 && git log --patch FETCH_HEAD',
    );
    const cache = path.join(scene.places.caches, `${folderName(repo.shown, repo.shown)}.git`);
    shell(`git clone -q --bare workspace '${cache}'`, scene.folder);
    expect((await diffOf(scene, evidence, repo)).files).toHaveLength(3);
  });

  it('says where the work is when its commits are gone, and what cannot be known', async () => {
    const scene = lookScene();
    const gone = 'a'.repeat(40);
    const where = `git -C ${scene.workspace} log --patch baton/t-1`;
    expect((await diffOf(scene, evidenceOf(gone, 1, {}))).why_none).toContain(where);
    const { head } = mergedBranch(scene);
    expect((await diffOf(scene, evidenceOf(head, null, {}))).why_none).toContain(where);
    expect((await diffOf(scene, evidenceOf(head, 2, { commit: gone }))).why_none).toContain(where);
    // There is no repository, so it names none.
    expect((await diffOf(scene, evidenceOf(head, 2, {}), null)).why_none).not.toMatch(/^$|git|baton\/t-1/);
    const nowhere = { location: '/nonexistent', shown: '/nonexistent', isLocal: true };
    expect((await diffOf(scene, evidenceOf(head, 2, {}), nowhere)).why_none).toContain('/nonexistent');
  });

  it('shows at most 300 files, and refuses more files than any work tree has', async () => {
    const scene = lookScene();
    scene.agent('for n in $(seq 1 350); do echo $n > t$n; done; git add -A; git commit -qm many');
    const head = scene.agent('git rev-parse HEAD').trim();
    const found = await diffOf(scene, evidenceOf(head, 1));
    expect([found.files.length, found.is_cut]).toEqual([300, true]);
    const bomb = scene.agent(`tree=$(git rev-parse HEAD:dir)
      for level in 1 2 3 4 5 6 7 8 9 10; do
        tree=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' $tree $n; done | git mktree)
      done
      git commit-tree -p HEAD -m bomb $tree`);
    const refused = await diffOf(scene, evidenceOf(bomb.trim(), 1));
    expect([refused.files, refused.why_none]).toEqual([[], expect.any(String)]);
  }, 60_000);

  // @conforms api.64
  it('runs no program that the repository or its commits name, with every trap at once', async () => {
    const scene = lookScene(trapGround);
    const canary = hatchCanary(path.join(scene.folder, 'cage'));
    scene.agent("echo '* diff=evil filter=evil' > .gitattributes; git add -A; git commit -qm attributes");
    const head = scene.agent('git rev-parse HEAD').trim();
    plantTraps(scene.workspace, path.join(scene.workspace, '.git'), canary);
    canary.silence();
    await diffOf(scene, evidenceOf(head, 1));
    expect(canary.sang()).toEqual([]);
  });
});

describe('the diff of an issue whose workspace was removed', () => {
  it('is that of the last run in that workspace', async () => {
    const { runs } = await scratchStore(systemClock);
    const none = { base: null, head: null, branch: null, files: [], is_cut: false };
    const why = async () => {
      const diff = await diffOfIssue(
        { runs, project: 'alpha' },
        'i1',
        async () => ({ ...none, why_none: 'the workspace' }),
        async (evidence) => ({ ...none, why_none: `brought ${evidence.git?.head}` }),
      );
      return diff.why_none;
    };
    await runs.start(runStart('r1'));
    await runs.record('r1', 1, { workspace: '/w/one', evidence: evidenceOf('abc', 1) });
    await runs.start(runStart('r2', { generation: 2 }));
    await runs.record('r2', 2, { workspace: '/w/one' });
    expect(await why()).toBe('the workspace');
    await runs.noteRemoval('r2', { at: 1, keptBecause: null, saved: [] });
    expect(await why()).toBe('brought abc');
    await runs.record('r2', 2, { evidence: evidenceOf('def', 1) });
    expect(await why()).toBe('brought def');
  });
});
