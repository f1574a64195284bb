// @module-tag full
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces, Place } from '../cli/run-baton.ts';
import { startDoomed, startLive, untilKilled } from './fault-daemon.ts';
import { faultWorkflow, stubborn } from './fault-scene.ts';
import { workScript } from './file-issues.ts';
import { layOutJournal, readJournal } from './journal.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn, watchProcesses } from './process-watch.ts';
import { readStore, storeFile } from './store-file.ts';

leaveNoPlaces();

const identifiers = ['MEM-1', 'MEM-2'];

describe.concurrent('a daemon that was killed in a turn and has lost', faultTest, () => {
  // @conforms fault.8
  it('its store ends the processes of the previous daemon, continues in the same workspaces, and finishes every issue', () =>
    loses((place) => {
      const folder = path.dirname(storeFile(place));
      for (const name of readdirSync(folder).filter((each) => each.startsWith('baton.db'))) rmSync(`${folder}/${name}`);
    }));

  // @conforms fault.9
  it('its whole state folder does the same: its marker comes from its path, not from its store', () =>
    loses((place) => rmSync(place.state, { recursive: true })));

  async function loses(lose: (place: Place) => void): Promise<void> {
    using place = new Place(stubborn);
    using watch = watchProcesses(place.folder);
    const agents = path.join(place.folder, 'agents');
    layOutJournal(agents);
    place.write('WORKFLOW.md', memoryWorkflow());
    place.write('issues.json', JSON.stringify(identifiers.map(issueInFile)));
    const killInTurn = {
      at: 'sql',
      pattern: 'insert into "run_events".*at work',
      when: 'after_commit',
      occurrence: 2,
    } as const;
    await untilKilled(startDoomed(place, killInTurn));
    const orphans = leftIn(path.join(place.folder, 'workspaces'));
    expect(orphans).not.toEqual([]);
    const earlier = readJournal(agents).filter(({ act }) => act === 'start');
    expect(earlier.map(({ issue }) => issue).toSorted()).toEqual(identifiers);
    lose(place);
    expect(existsSync(storeFile(place))).toBe(false);

    const next = await startLive(place);
    // The workspace of a finished issue is removed; its hook has copied the content.
    const kept = (identifier: string): string => place.read(`agents/${identifier}.kept`);
    await patiently(() => {
      for (const identifier of identifiers) expect(kept(identifier), next.stderr()).not.toBe('');
    });
    await patiently(() => expect(readStore(place, 'select run_id from runs where ended_at is null')).toEqual([]));
    await stopDaemon(next);
    expect(next.stderr()).toContain('leftover_processes_ended');
    const runs = readStore(place, 'select run_id, identifier, outcome from runs order by identifier');
    expect(runs).toMatchObject(identifiers.map((identifier) => ({ identifier, outcome: 'succeeded' })));
    for (const { identifier, run_id } of runs) {
      const before = earlier.find(({ issue }) => issue === identifier)?.runId;
      expect(kept(String(identifier)).trim().split('\n')).toEqual([before, run_id]);
    }
    const acts = readJournal(agents).map(({ act, issue }) => `${act} ${issue}`);
    expect(acts.filter((act) => act.startsWith('overlap'))).toEqual([]);
    expect(acts.filter((act) => act.startsWith('work')).toSorted()).toEqual(identifiers.map((each) => `work ${each}`));
    expect(watch.overlaps).toEqual([]);
    expect(leftIn(place.folder)).toEqual([]);
  }
});

function issueInFile(identifier: string): object {
  // Long enough that no turn ends before the kill, because this tracker forgets moves.
  return { identifier, title: 'An issue', description: workScript(4000, 'Done') };
}

function memoryWorkflow(): string {
  const keep = 'cp kept.txt ../../agents/$BATON_ISSUE_IDENTIFIER.kept';
  return faultWorkflow()
    .replace('tracker: {kind: board}', 'tracker: {kind: memory, provider: {issues_file: issues.json}}')
    .replace(/^hooks: .*$/m, `hooks: {before_remove: ${JSON.stringify(keep)}}`);
}
