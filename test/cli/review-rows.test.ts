// @module-tag full
import { describe, expect, it } from 'vitest';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { answer, liveTest, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place, startBaton } from './run-baton.ts';

leaveNoPlaces();

const workflow = [
  '---',
  'tracker: {kind: board}',
  'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
  'workspace: {root: workspaces, repo: project, base: main}',
  'agent:',
  '  backend: command',
  '  command: "date +%N > now.txt; git add -A; git commit -qm work"',
  '  after_success: review',
  '---',
  'Work on {{ issue.identifier }}.',
].join('\n');

describe('a change that waits for a person', liveTest, () => {
  // @conforms dashboard.51
  it('stands in status and top with the command that reviews it; comments say whether an agent has them', async () => {
    using place = new Place({});
    git(scratchRepository(`${place.folder}/project`), 'checkout', '--quiet', '--detach');
    place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
    place.write('WORKFLOW.md', workflow);
    await answer(place, 'issue', 'add', 'Work');
    await answer(place, 'issue', 'comment', 'BAT-1', 'before the first run');
    const daemon = await daemonHere(place);
    const reviewed = (times: number): Promise<void> =>
      soon(async () => {
        expect((await answer(place, 'pr', 'show', '1')).pull).toMatchObject({
          times_sent_back: times,
          sent_back: null,
        });
        const { status } = await answer(place, 'status');
        expect(status.reviews).toMatchObject([{ issue_identifier: 'BAT-1', pull: 1 }]);
      });
    await reviewed(0);
    expect((await batonHere(place, 'status')).stdout).toMatch(/^ {2}BAT-1 +baton review BAT-1 · /m);
    const top = startBaton(place, 'top');
    await soon(() => expect(top.stdout()).toMatch(/ BAT-1 .*\(review\): baton review BAT-1: /));
    top.child.kill('SIGINT');
    await top.ended;

    const statuses = async (): Promise<unknown[]> =>
      (await answer(place, 'issue', 'show', 'BAT-1')).comments.map(({ status }: { status: unknown }) => status);
    await answer(place, 'issue', 'comment', 'BAT-1', 'after the first run');
    expect(await statuses()).toEqual([null, 'waiting']);
    await answer(place, 'pr', 'send-back', '1', 'once more');
    await reviewed(1);
    await soon(async () => expect(await statuses()).toEqual([null, 'delivered']));
    expect((await batonHere(place, 'pr', 'show', '1')).stdout).toMatch(/^ +delivered once more$/m);
    await daemon.stop();
  });
});
