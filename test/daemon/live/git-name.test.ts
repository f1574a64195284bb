// @module-tag full
import { expect, it } from 'vitest';
import { daemonHere } from '../../cli/baton-here.ts';
import { addIssue, boardWorkflow, liveTest, soon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces, Place } from '../../cli/run-baton.ts';
import { describeIsolated } from '../../security/machine.ts';

leaveNoPlaces();

describeIsolated('an isolated agent', liveTest, () => {
  it('has the name that git was given after the daemon started', async () => {
    using place = new Place();
    const program = 'cat > /dev/null; git config user.name > name; sleep 600';
    const agent = `agent: {backend: command, command: ${JSON.stringify(program)}}`;
    place.write('WORKFLOW.md', boardWorkflow().replace(/^agent: .*$/m, agent));
    const daemon = await daemonHere(place);
    place.write('home/.gitconfig', '[user]\n\tname = Set Later\n');
    await addIssue(place, 'Say who you are.');
    await soon(() => expect(place.read('workspaces/BAT-1/name')).toBe('Set Later\n'));
    await daemon.stop();
  });
});
