// A tracker and an agent that Baton does not have, registered as a new folder would be: one line in the list of its kind.
// `npm run shape` counts these lines, the files that exist already and that the two new adapters touch:
// @touches src/tracker/adapters.ts
// @touches src/agent/backends.ts

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentBackends } from '../../src/agent/backends.ts';
import { trackerAdapters } from '../../src/tracker/adapters.ts';
import { daemonHere } from '../cli/baton-here.ts';
import { answer, refusal, runsOf } from '../cli/live-daemon.ts';
import { leaveNoPlaces, Place } from '../cli/run-baton.ts';
import { issue } from '../fake/issues.ts';
import { until } from '../process/real-children.ts';
import { notebookTracker } from './extra/notebook-tracker.ts';
import { parrotBackend } from './extra/parrot-backend.ts';

leaveNoPlaces();

const root = path.resolve(import.meta.dirname, '../..');
/** Long enough for a busy machine; nothing here measures time. */
const patienceMs = 60_000;

function placeWith(issues: Parameters<typeof notebookTracker>[0] = []): Place {
  const place = new Place();
  place.adapters = {
    trackers: [...trackerAdapters, notebookTracker(issues)],
    backends: [...agentBackends, parrotBackend],
  };
  return place;
}

describe('a tracker and an agent from another folder', () => {
  it('carry an issue from start to finish', { timeout: 2 * patienceMs }, async () => {
    const issues = [issue({ id: '1', identifier: 'N-1', state: 'open' })];
    using place = placeWith(issues);
    const init = ['init', '--tracker', 'notebook', '--shelf-name', 'top', '--agent', 'parrot', '--repo', '-'];
    expect(await answer(place, ...init)).toMatchObject({ tracker: 'notebook', agent: 'parrot', shelf_name: 'top' });
    expect(await answer(place, 'validate')).toMatchObject({
      valid: true,
      agent_environment: { backend: ['PARROT_*'] },
      agent_needs: { paths: ['~/.parrot'], hosts: ['parrot.example'], has_read_only_mode: true },
    });
    const { findings } = await answer(place, 'doctor', 'WORKFLOW.md');
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: 'notebook', details: { shelf: 'top' } }),
        expect.objectContaining({ check: 'parrot', status: 'ok' }),
      ]),
    );

    const daemon = await daemonHere(place, 'WORKFLOW.md');
    await until(() => issues[0]?.state === 'closed', 'the agent has closed the issue', patienceMs);
    await daemon.stop();
    expect(await runsOf(place)).toMatchObject([{ issue_identifier: 'N-1', backend: 'parrot' }]);
  });

  it('have their own errors, with the next step', async () => {
    using place = placeWith();
    expect(await refusal(place, 'init', '--tracker', 'notebook', '--agent', 'parrot')).toMatchObject({
      code: 'missing_notebook_shelf',
      next_step: 'Set `tracker.provider.shelf`.',
    });
    expect(existsSync(path.join(place.folder, 'WORKFLOW.md'))).toBe(false);
  });

  it('are unknown if they are not listed', async () => {
    using place = new Place();
    expect(await refusal(place, 'init', '--tracker', 'notebook')).toMatchObject({ code: 'unsupported_tracker_kind' });
    expect(await refusal(place, 'init', '--agent', 'parrot')).toMatchObject({ code: 'unsupported_agent_backend' });
  });
});

describe('an adapter', () => {
  it.each(['src/tracker/adapters.ts', 'src/agent/backends.ts'])('is one line in %s', (file) => {
    const [, list = ''] = /= \[\n?([^\]]*)\];/.exec(readFileSync(path.join(root, file), 'utf8')) ?? [];
    const listed = list
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
    expect(listed).toHaveLength(file.includes('tracker') ? trackerAdapters.length : agentBackends.length);
  });

  it.each([...trackerAdapters, ...agentBackends].map(({ docs }) => docs))('has its page %s', (page) => {
    const [file = '', heading = null] = page.split('#');
    const text = readFileSync(path.join(root, file), 'utf8');
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => anchorOf(words));
    if (heading !== null) expect(headings).toContain(heading);
  });
});

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}
