// @module-tag one-way
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { toolBounds } from '../../src/tools/limit-calls.ts';
import { readGitDirectory } from '../../src/workspace/git/read/read-git-directory.ts';
import { begun } from '../orchestrator/scene.ts';
import { memory, openTools } from '../tools/open-tools.ts';
import { toolScene } from '../tracker/linear/graphql-tool-scene.ts';
import { commit, git, scratchCheckouts, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { makeRepository, requestFor, salvageScene, savedBy, write } from '../workspace/salvage/salvage-scene.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { hiddenTreeBomb, treeBomb } from './tree-bomb.ts';

it.each([
  ['many comments', 'x', toolBounds.commentsPerRun],
  ['large comments', 'x'.repeat(60_000), 17],
])('an agent that writes %s is refused after a bound', async (_name, body, most) => {
  const tracker = memory();
  const { toolSet } = openTools(tracker);
  let added = 0;
  for (let time = 0; time < 400; time++) if ((await toolSet.call('comment', { body })).success) added += 1;
  expect(added).toBe(most);
  expect((await tracker.fetchComments?.('1'))?.comments.length).toBeLessThanOrEqual(most);
});

it.each([
  ['one by one', 'mutation { commentCreate(input: {issueId: "1", body: "x"}) { success } }', toolBounds.commentsPerRun],
  ['many at once', `mutation { ${'a: commentCreate, #x\n(input: {}) { success } '.repeat(30)}}`, 3],
  ['large ones', `mutation { commentCreate(input: {body: "${'x'.repeat(60_000)}"}) { success } }`, 17],
])(
  'an agent that writes comments with the language of the tracker is refused after a bound: %s',
  async (_, query, most) => {
    let sent = 0;
    const { tool } = toolScene();
    const call = async () => {
      sent += 1;
      return { success: true, output: '' };
    };
    const { toolSet } = openTools(Object.assign(memory(), { nativeTools: [{ ...tool, call }] }));
    for (let time = 0; time < 200; time++) await toolSet.call(tool.name, { query });
    expect(sent).toBe(most);
    expect((await toolSet.call(tool.name, { query: '{ viewer { id } }' })).success).toBe(true);
  },
);

it('an agent that calls tools without end is refused after a bound', async () => {
  const { toolSet, progress } = openTools();
  for (let time = 0; time < toolBounds.callsPerRun + 500; time++) await toolSet.call('report_progress', { text: 'x' });
  expect(progress).toHaveLength(toolBounds.callsPerRun);
});

it('refused questions of a run are one line in the log', async () => {
  const stage = await begun();
  const question = { kind: 'command', text: 'May I?', detail: '', fields: [] } as const;
  for (let time = 0; time < 500; time++) void stage.runs[0]?.request.ask(question);
  await stage.clock.advance(0);
  expect(stage.logger.lines.filter(({ event }) => event === 'question_refused')).toHaveLength(1);
});

const junk = 'head -c 110000000 /dev/urandom > junk && git add junk && git -c core.compression=0 commit -qm junk';

const commitsOf = (count: number): string =>
  `for i in $(seq ${count}); do echo "commit refs/heads/baton/t-1
committer A <a@b> $i +0000
data 1
x"; done | git fast-import --quiet --force`;

it.each([
  ['in its last commit', treeBomb, 'too_many_files'],
  ['in a commit that the next one takes back', hiddenTreeBomb, 'too_many_files'],
  ['of more commits than any work has', commitsOf(1_001), 'too_many_commits'],
  ['of junk', junk, 'too_many_bytes'],
  ['of junk that the next commit takes back', `${junk}; git rm -q junk && git commit -qm back`, 'too_many_bytes'],
])('a branch with a bomb %s is not published', async (_name, script, code) => {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  const { checkouts, workspace } = scratchCheckouts(folder, source, {});
  const place = workspace('T-1');
  await checkouts.make({ workspace: place, branch: 'baton/t-1' });
  commit(place, { 'a.txt': '1\n' });
  const identity = {
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  execFileSync('sh', ['-c', script], { cwd: place, env: { ...process.env, ...identity } });
  const directory = await readGitDirectory(path.join(place, '.git'));
  if (directory !== null) checkouts.beginToPublish(place, directory);
  expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code });
  const head = git(place, 'rev-parse', 'HEAD');
  expect(() => git(source, 'cat-file', '-e', head)).toThrow();
  expect(git(source, 'branch', '--list', 'baton/*')).toBe('');
});

it('junk beyond a bound is saved outside of the repository of the person, and reported', async () => {
  const mostLocalBytes = 1024 * 1024;
  const { salvage, workspace, source, places, logger } = salvageScene({ local: true, mostLocalBytes });
  makeRepository(source);
  git(workspace, 'clone', '-q', source, '.');
  const junk = Object.fromEntries([0, 1, 2, 3, 4].map((number) => [`junk-${number}`, randomBytes(mostLocalBytes / 4)]));
  write(workspace, junk);
  const [work] = savedBy(await salvage.save(requestFor(workspace)));
  expect(work?.repository).toBe(places.salvage);
  expect(logger.lines.map(({ event }) => event)).toContain('salvage_too_large');
  expect(Number(git(source, 'count-objects', '-v').match(/size-pack: (\d+)/)?.[1])).toBeLessThan(100);
  const restored = `${workspace}-restored`;
  await salvage.restore(await salvage.find(work?.name ?? ''), restored);
  for (const [name, bytes] of Object.entries(junk)) {
    expect(existsSync(path.join(restored, name))).toBe(true);
    expect(bytes.equals(readFileSync(path.join(restored, name)))).toBe(true);
  }
});
