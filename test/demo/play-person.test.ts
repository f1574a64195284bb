import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import type { Announcement } from '../../demo/lines.ts';
import { playPerson } from '../../demo/play-person.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { ada, aRun, type BoardScene, openScene, theOrchestrator } from '../tracker/board-scene.ts';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

let scene: BoardScene | null = null;
afterEach(() => scene?.close());

/** An issue in review, and a person who checks it. */
async function staged() {
  scene = await openScene();
  const { board, clock } = scene;
  const { issue } = await board.create({ title: 'One' }, ada);
  await board.move(issue.id, 'in_progress', theOrchestrator);
  await board.move(issue.id, 'review', aRun);
  const project = scratchRepository(await scratchFolder());
  commit(project, { 'a.txt': 'one\n' });
  const said: Announcement[] = [];
  const person = playPerson(
    {
      board,
      clock,
      logger: memoryLogger(),
      say: (announcement) => said.push(announcement),
      folder: { root: project, workflow: '', project, stateDir: '' },
      isRunning: () => false,
      asking: () => [],
      answer: async () => {},
    },
    // Only the environment is used, for git.
    { env: { PATH: process.env.PATH, HOME: tmpdir() } } as unknown as Surroundings,
  );
  const look = async (): Promise<void> => {
    person.check();
    await person.idle();
  };
  return { board, clock, project, person, said, look, id: issue.id, identifier: issue.identifier };
}

describe('the person that the demo plays', () => {
  // @conforms dashboard.44
  it('waits a minute for a missing branch, then gives up and says why', async () => {
    const { clock, person, said, look, id, identifier } = await staged();
    await look();
    await clock.advance(59_000);
    await look();
    expect([person.hasRefused(id), person.whyRefused(identifier), said]).toEqual([false, null, []]);
    await clock.advance(1_000);
    await look();
    expect(person.hasRefused(id)).toBe(true);
    expect(person.whyRefused(identifier)).toMatch(/baton\/bat-1 .* 1 min/);
    expect(said).toMatchObject([
      { lines: [expect.stringMatching(/^BAT-1 /)], json: { identifier, code: 'branch_missing' } },
    ]);
    await look();
    expect(said).toHaveLength(1);
  });

  it('merges a branch that appears in time', async () => {
    const { board, clock, project, person, look, id } = await staged();
    await look();
    await clock.advance(50_000);
    git(project, 'checkout', '-q', '-b', 'baton/bat-1');
    commit(project, { 'b.txt': 'two\n' });
    git(project, 'checkout', '-q', '-');
    await clock.advance(30_000);
    await look();
    expect(person.hasRefused(id)).toBe(false);
    expect((await board.details(id)).issue.status).toBe('done');
  });

  it('gives up at once when git refuses the merge, with the message of git', async () => {
    const { project, person, said, look, id, identifier } = await staged();
    git(project, 'checkout', '-q', '-b', 'baton/bat-1');
    commit(project, { 'a.txt': 'two\n' });
    git(project, 'checkout', '-q', '-');
    commit(project, { 'a.txt': 'three\n' });
    await look();
    expect(person.hasRefused(id)).toBe(true);
    expect(person.whyRefused(identifier)).toMatch(/: git .* merge .* baton\/bat-1/);
    expect(said).toMatchObject([{ json: { identifier, code: 'merge_failed' } }]);
  });
});
