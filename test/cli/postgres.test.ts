// @module-tag full
import { describe, expect, it } from 'vitest';
import { engines } from '../store/engines.ts';
import { daemonHere } from './baton-here.ts';
import { addIssue, answer, boardWorkflow, liveTest, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const postgres = engines.find(({ name }) => name === 'postgres') ?? expect.fail('there are two engines');

describe.skipIf(postgres.missing !== null)('a daemon on PostgreSQL', liveTest, () => {
  // @conforms board.19
  it('works on an issue of the board, and agents do not see the database address', async () => {
    const database = await postgres.place();
    using place = new Place({ BATON_DATABASE_URL: database.url });
    place.write('WORKFLOW.md', boardWorkflow());
    const id = await addIssue(place, 'env > env.txt; echo worked');
    const daemon = await daemonHere(place, '--max-runs', '1');
    await soon(async () => expect(await runsOf(place)).toMatchObject([{ issue_identifier: id, outcome: 'succeeded' }]));
    const { history } = await answer(place, 'issue', 'show', id);
    expect(history).toContainEqual(
      expect.objectContaining({ field: 'status', to: 'in_progress', author: { kind: 'orchestrator' } }),
    );
    await daemon.stop();
    expect(place.read(`workspaces/${id}/env.txt`)).not.toContain(new URL(database.url).host);
    expect(daemon.stderr()).not.toContain(database.url);
    await database.remove();
  });
});
