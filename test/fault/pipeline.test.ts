// @module-tag full
import { describe, expect, it } from 'vitest';
import { answer, stateFolderOf, stopDaemon } from '../cli/live-daemon.ts';
import { pipelineScene } from '../cli/pipeline-scene.ts';
import { baton, leaveNoPlaces, Place } from '../cli/run-baton.ts';
import type { StoreEngine } from '../conformance/store.ts';
import { engines } from '../store/engines.ts';
import { startDoomed, startLive, untilKilled } from './fault-daemon.ts';
import { killPointsInPhases } from './kill-points.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';
import { readStore } from './store-file.ts';

leaveNoPlaces();

const claimStates =
  'select phase, state, count(*) as times from completion_claims group by phase, state order by phase';
const decided = ['architecture', 'grooming', 'research'].map((phase) => ({ phase, state: 'advanced', times: 1 }));
const description = 'research: facts\narchitecture: clear\ngrooming: steps';

describe.concurrent('an issue in the pipeline whose daemon is killed', faultTest, () => {
  for (const [point, plans] of Object.entries(killPointsInPhases)) {
    // @conforms 4.122
    it(`${point} goes through each phase once, and its labels are right`, async () => {
      const { place } = pipelineScene();
      await answer(place, 'issue', 'add', 'Something big', '--description', description);
      for (const plan of plans) await untilKilled(startDoomed(place, plan));
      const last = await startLive(place);
      await patiently(async () =>
        expect((await answer(place, 'pr', 'show', 'BAT-1')).pull, last.stderr()).toMatchObject({ status: 'in_review' }),
      );
      const claims = readStore(place, `${claimStates}`).filter(({ state }) => state !== 'replaced');
      expect(claims).toEqual(decided);
      expect(readStore(place, 'select phase, revisions from phases')).toEqual([{ phase: 'ready', revisions: 0 }]);
      await patiently(async () =>
        expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.labels).toEqual(['phase:ready']),
      );
      expect(last.stderr()).not.toContain('phase_moved');
      await stopDaemon(last);
      expect(leftIn(place.folder)).toEqual([]);
    });
  }
});

const postgres: StoreEngine | undefined = engines.find(({ name }) => name === 'postgres');

describe.skipIf(postgres === undefined || postgres.missing !== null)('two daemons with a pipeline', faultTest, () => {
  it('make each transition once, and the other one continues when the first is killed', async () => {
    const database = (await postgres?.place()) ?? expect.fail('PostgreSQL runs');
    const env = { BATON_DATABASE_URL: database.url };
    const { place } = pipelineScene(['store: {lease_ms: 12000}'], new Place(env));
    using other = new Place(env);
    // Each has workspaces of its own, as on two machines.
    const workflow = place
      .read('WORKFLOW.md')
      .replace('repo: project', `strategy: clone, repo: ${place.folder}/project`);
    for (const each of [place, other]) {
      each.write('WORKFLOW.md', workflow);
      each.write('home/.gitconfig', place.read('home/.gitconfig'));
    }
    for (const title of ['One', 'Two', 'Three'])
      await answer(place, 'issue', 'add', title, '--description', description);
    const doomed = await startLive(place);
    const heir = await startLive(other);
    await patiently(async () =>
      expect((await database.query("select 1 from completion_claims where state = 'advanced'")).length).toBeGreaterThan(
        0,
      ),
    );
    doomed.child.kill('SIGKILL');
    await doomed.ended;
    await patiently(async () =>
      expect(await database.query("select status from board_issues where status <> 'review'"), heir.stderr()).toEqual(
        [],
      ),
    );
    const rows = await database.query("select issue_id, phase from completion_claims where state = 'advanced'");
    expect(rows).toHaveLength(9);
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(9);
    expect(await database.query("select 1 from phases where phase <> 'ready' or revisions <> 0")).toEqual([]);
    await stopDaemon(heir);
    expect([...leftIn(place.folder), ...leftIn(other.folder)]).toEqual([]);
    await database.remove();
  });

  // @conforms fault.17
  it('that share a root of worktrees start no agent in the worktree of the other, and the next start is refused', async () => {
    const database = (await postgres?.place()) ?? expect.fail('PostgreSQL runs');
    const env = { BATON_DATABASE_URL: database.url };
    const { place } = pipelineScene(['store: {lease_ms: 12000}'], new Place(env));
    using other = new Place(env);
    const workflow = place
      .read('WORKFLOW.md')
      .replace('root: workspaces, repo: project', `root: ${place.folder}/workspaces, repo: ${place.folder}/project`)
      .replace('isolation: none', 'isolation: none, max_retry_backoff_ms: 500');
    for (const each of [place, other]) {
      each.write('WORKFLOW.md', workflow);
      each.write('home/.gitconfig', place.read('home/.gitconfig'));
    }
    // Both start before the root has a workspace.
    const daemons = [await startLive(place), await startLive(other)];
    await answer(place, 'issue', 'add', 'Something big', '--description', description);
    await patiently(async () =>
      expect(await database.query("select 1 from completion_claims where phase = 'research'")).toHaveLength(1),
    );
    const doomed = daemons.find((each) => each.stderr().includes('"event":"run_started"'));
    const heir = daemons.find((each) => each !== doomed) ?? expect.fail('two daemons run');
    doomed?.child.kill('SIGKILL');
    await doomed?.ended;
    await patiently(async () =>
      expect(await database.query('select code from held'), heir.stderr()).toEqual([{ code: 'retries_exhausted' }]),
    );
    const failed = await database.query("select error_code from runs where outcome = 'failed'");
    expect(failed).toEqual(Array(3).fill({ error_code: 'workspace_of_another_daemon' }));
    await stopDaemon(heir);
    const [mine, its] = heir === daemons[0] ? [place, other] : [other, place];
    const refused = await baton(mine, 'start', '--json');
    expect([refused.code, JSON.parse(refused.stdout).error]).toMatchObject([
      1,
      { code: 'workspace_of_another_daemon', details: { state_dir: stateFolderOf(its) } },
    ]);
    await database.remove();
  });
});
