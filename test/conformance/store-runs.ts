import { expect, it } from 'vitest';
import type { Publication } from '../../src/core/run/run-evidence.ts';
import type { RequestCount } from '../../src/store/tables/request-counts.ts';
import { onEngine, project, runStart, type StoreEngine } from './store.ts';

/** What happened and what it cost: runs, their events, request counts, usage. */
export function runsConformance(engine: StoreEngine): void {
  const end = { endedAt: 9_000, outcome: 'failed', errorCode: 'agent_exited', errorMessage: 'It ended.' } as const;

  onEngine(engine, 'keeps runs', ({ open }) => {
    it('records a run from its start to its end', async () => {
      const { runs } = await open();
      const start = runStart('r1', { attempt: 2, retryKind: 'failure', generation: 3, account: 'work' });
      await runs.start(start);
      const nothingYet = {
        pid: null,
        pidStartTime: null,
        workspace: null,
        threadId: null,
        turns: 0,
        lastMessage: null,
        inputTokens: 0,
        cachedInputTokens: 0,
        outputTokens: 0,
        reasoningTokens: 0,
        totalTokens: 0,
        costMicroUsd: 0,
        finish: null,
        evidence: null,
        removal: null,
        seq: 1,
      };
      expect(await runs.read('r1')).toEqual({ ...start, phase: null, prompt: null, ...nothingYet });
      const facts = {
        pid: 42,
        pidStartTime: 77,
        workspace: '/w/BAT-1',
        threadId: 't',
        turns: 2,
        lastMessage: 'All done.',
        inputTokens: 10,
        cachedInputTokens: 4,
        outputTokens: 5,
        reasoningTokens: 1,
        totalTokens: 15,
        costMicroUsd: 12_345,
        evidence: {
          changed: true,
          fingerprint: 'f'.repeat(64),
          git: { head: 'a'.repeat(40), branch: 'naïve/漢字\u0000', ahead: 2, changed: 3, untracked: 1, conflicts: 0 },
        },
      };
      expect(await runs.record('r1', 3, facts)).toBe(true);
      expect(await runs.read('r1')).toEqual({
        seq: 1,
        ...start,
        phase: null,
        prompt: null,
        ...facts,
        finish: null,
        removal: null,
      });
      expect((await runs.unfinished(project)).map(({ runId }) => runId)).toEqual(['r1']);
      expect(await runs.finish('r1', 3, end)).toBe(true);
      expect(await runs.read('r1')).toEqual({
        seq: 1,
        ...start,
        phase: null,
        prompt: null,
        ...facts,
        finish: end,
        removal: null,
      });
      expect(await runs.unfinished(project)).toEqual([]);
      expect(await runs.read('no')).toBeNull();
    });

    it('rejects a write with another generation, and every write after the end', async () => {
      const { runs } = await open();
      await runs.start(runStart('r1', { generation: 2 }));
      expect(await runs.record('r1', 1, { turns: 9 })).toBe(false);
      expect(await runs.finish('r1', 3, end)).toBe(false);
      expect(await runs.record('no', 2, { turns: 9 })).toBe(false);
      expect(await runs.finish('r1', 2, { ...end, outcome: 'interrupted', errorCode: null, errorMessage: null })).toBe(
        true,
      );
      expect(await runs.finish('r1', 2, end)).toBe(false);
      expect(await runs.record('r1', 2, { turns: 9 })).toBe(false);
      expect(await runs.read('r1')).toMatchObject({ turns: 0, finish: { outcome: 'interrupted', errorCode: null } });
      await expect(runs.start(runStart('r1'))).rejects.toMatchObject({ code: 'store_constraint' });
    });

    it('adds facts without touching others, and never lowers a total', async () => {
      const { runs } = await open();
      await runs.start(runStart('r1'));
      await runs.record('r1', 1, { turns: 3, totalTokens: 100, threadId: 't' });
      expect(await runs.record('r1', 1, { totalTokens: 40, outputTokens: 7 })).toBe(true);
      expect(await runs.record('r1', 1, {})).toBe(true);
      expect(await runs.record('r1', 1, { threadId: null, pidStartTime: null })).toBe(true);
      expect(await runs.read('r1')).toMatchObject({ turns: 3, totalTokens: 100, outputTokens: 7, threadId: null });
    });

    it('lists the newest first, for a project or one issue', async () => {
      const { runs } = await open();
      for (const index of [0, 1, 2, 3]) await runs.start(runStart(`r${index}`, { issueId: index === 2 ? 'i2' : 'i1' }));
      await runs.start(runStart('other', { project: 'beta' }));
      const listed = async (query: Parameters<typeof runs.list>[1]) =>
        (await runs.list(project, query)).map(({ runId }) => runId);
      expect(await listed({ limit: 9 })).toEqual(['r3', 'r2', 'r1', 'r0']);
      expect(await listed({ limit: 2 })).toEqual(['r3', 'r2']);
      expect(await listed({ limit: 9, before: { seq: (await runs.read('r3'))?.seq ?? 0, runId: 'r3' } })).toEqual([
        'r2',
        'r1',
        'r0',
      ]);
      expect(await listed({ limit: 9, issueId: 'i1' })).toEqual(['r3', 'r1', 'r0']);
      expect(await runs.countByIssue({ project, issueId: 'i1' })).toBe(3);
      expect(await runs.countByIssue({ project: 'beta', issueId: 'i2' })).toBe(0);
      expect((await runs.unfinished(project)).map(({ runId }) => runId)).toEqual(['r0', 'r1', 'r2', 'r3']);
      expect((await runs.latestOfIssue({ project, issueId: 'i1' }))?.runId).toBe('r3');
      expect(await runs.latestOfIssue({ project, issueId: 'i2' })).toEqual(await runs.read('r2'));
      expect(await runs.latestOfIssue({ project: 'beta', issueId: 'i2' })).toBeNull();
    });

    // @conforms runs.44
    it('finds the run that started last, whatever the clock says and whatever was pruned', async () => {
      const { runs } = await open();
      // The names are in no order either.
      const started = [
        ['m', 9_000],
        ['z', 5_000],
        ['a', 5_000],
        ['k', 1],
      ] as const;
      const known: string[] = [];
      for (const [runId, startedAt] of started) {
        await runs.start(runStart(runId, { startedAt }));
        await runs.record(runId, 1, { workspace: '/w/a' });
        known.unshift(runId);
        expect((await runs.list(project, { limit: 9 })).map((run) => run.runId)).toEqual(known);
        expect((await runs.latestOfIssue({ project, issueId: 'i1' }))?.runId).toBe(runId);
        expect((await runs.latestInWorkspaces(project, ['/w/a'])).map((run) => run.runId)).toEqual([runId]);
        expect((await runs.unfinished(project)).map((run) => run.runId)).toEqual(known.toReversed());
      }
      for (const runId of ['m', 'a', 'k']) await runs.finish(runId, 1, { ...end, endedAt: 10 });
      expect(await runs.prune(11, 9)).toHaveLength(3);
      await runs.start(runStart('b', { startedAt: 0 }));
      expect((await runs.list(project, { limit: 9 })).map((run) => run.runId)).toEqual(['b', 'z']);
    });

    it('finds the newest run of an issue by id or identifier in any case, however many runs came after', async () => {
      const { runs } = await open();
      await runs.start(runStart('old', { issueId: 'i1', identifier: 'Ärger-1' }));
      await runs.start(runStart('newer', { issueId: 'i1', identifier: 'Ärger-1' }));
      await runs.start(runStart('elsewhere', { project: 'beta', issueId: 'i9', identifier: 'Ärger-1' }));
      for (let at = 0; at < 1_001; at += 1) await runs.start(runStart(`r${at}`, { issueId: 'i2', identifier: 'T-2' }));
      for (const name of ['i1', 'ÄRGER-1', ' ärger-1 '])
        expect((await runs.latestNamed(project, name))?.runId).toBe('newer');
      for (const name of ['I1', 'rger-1', '%', '', 'i9']) expect(await runs.latestNamed(project, name)).toBeNull();
    });

    it('returns when many issues last started a run', async () => {
      const { runs } = await open();
      const started = [
        ['r0', 'i1', 5],
        ['r1', 'i2', 9],
        ['r2', 'i1', 7],
        ['r3', 'i1', 6],
      ] as const;
      for (const [runId, issueId, startedAt] of started) await runs.start(runStart(runId, { issueId, startedAt }));
      await runs.start(runStart('other', { project: 'beta', issueId: 'i3' }));
      const many = ['i1', 'i2', 'i3', 'i1', ...Array.from({ length: 1_200 }, (_, index) => `no-${index}`)];
      expect(await runs.latestStarts(project, many)).toEqual(
        new Map([
          ['i1', 7],
          ['i2', 9],
        ]),
      );
      expect(await runs.latestStarts(project, [])).toEqual(new Map());
    });

    it('keeps which texts of a tracker runs wrote', async () => {
      const { runTexts } = await open();
      const text = { project, kind: 'issue', textId: 'i1', runId: 'r1', at: 5 } as const;
      await runTexts.put(text);
      await runTexts.put({ ...text, runId: 'r2', at: 9 });
      await runTexts.put({ ...text, kind: 'comment', textId: 'c1' });
      expect(await runTexts.among(project, 'issue', ['i1', 'i2', 'c1'])).toEqual(new Set(['i1']));
      expect(await runTexts.among(project, 'comment', ['i1', 'c1'])).toEqual(new Set(['c1']));
      expect(await runTexts.among('beta', 'issue', ['i1'])).toEqual(new Set());
      expect(await runTexts.among(project, 'issue', [])).toEqual(new Set());
    });

    it('knows what was last published of issues, and what of it governs agents or CI', async () => {
      const { runs } = await open();
      const publication = { branch: 'b', commit: 'c', before: null, reason: null, elsewhere: null };
      const published = [
        ['r0', 'i1', { ...publication, outcome: 'published', governing: ['AGENTS.md'] }],
        ['r1', 'i1', { ...publication, outcome: 'refused' }],
        ['r2', 'i2', { ...publication, outcome: 'published', governing: null }],
        ['r3', 'i3', { ...publication, outcome: 'nothing' }],
      ] as const;
      for (const [runId, issueId, found] of published) {
        await runs.start(runStart(runId, { issueId }));
        await runs.noteEvidence(runId, { changed: true, fingerprint: null, git: null, publication: found });
      }
      // A run that was killed published nothing, and takes nothing back.
      await runs.start(runStart('r4', { issueId: 'i1' }));
      await runs.start(runStart('other', { project: 'beta', issueId: 'i1' }));
      const last = await runs.latestPublications(project, ['i1', 'i2', 'i3', 'i4']);
      expect([...last].map(([id, { governing }]) => [id, governing]).toSorted()).toEqual([
        ['i1', ['AGENTS.md']],
        ['i2', null],
        ['i3', undefined],
      ]);
      expect((await runs.governedFiles(project)).toSorted()).toEqual(['AGENTS.md', null]);
      expect(await runs.governedFiles('beta')).toEqual([]);
      // A branch is merged when a person likes, also long after its run was pruned.
      for (const runId of ['r0', 'r1', 'r2', 'r3', 'r4']) await runs.finish(runId, 1, end);
      expect(await runs.prune(end.endedAt + 1, 9)).toHaveLength(5);
      expect((await runs.governedFiles(project)).toSorted()).toEqual(['AGENTS.md', null]);
      expect(await runs.governedFiles('beta')).toEqual([]);
    });

    it('returns the last run of each workspace', async () => {
      const { runs } = await open();
      const places = [
        ['r0', '/w/a'],
        ['r1', '/w/a'],
        ['r2', '/w/a'],
        ['r3', '/w/b'],
      ] as const;
      for (const [id, workspace] of places) {
        await runs.start(runStart(id));
        await runs.record(id, 1, { workspace });
      }
      await runs.start(runStart('nowhere'));
      await runs.start(runStart('other', { project: 'beta' }));
      await runs.record('other', 1, { workspace: '/w/a' });
      const latest = async (...wanted: string[]) =>
        (await runs.latestInWorkspaces(project, wanted)).map(({ runId }) => runId);
      expect(await latest('/w/b', '/w/a', '/w/c')).toEqual(['r2', 'r3']);
      expect(await latest('/w/A')).toEqual([]);
      expect(await latest()).toEqual([]);
      expect(await latest(...Array.from({ length: 1_200 }, (_, at) => `/none/${at}`), '/w/b')).toEqual(['r3']);
    });

    it('returns the latest run of each given issue', async () => {
      const { runs } = await open();
      for (const [id, issueId] of [
        ['r0', 'i1'],
        ['r1', 'i2'],
        ['r2', 'i1'],
      ] as const)
        await runs.start(runStart(id, { issueId }));
      await runs.start(runStart('other', { project: 'beta', issueId: 'i2' }));
      const latest = async (...wanted: string[]) =>
        (await runs.latestOfIssues(project, wanted)).map(({ runId }) => runId);
      expect(await latest('i2', 'i1', 'i3')).toEqual(['r2', 'r1']);
      expect(await latest()).toEqual([]);
    });

    it('replaces the evidence of a run, also after its end', async () => {
      const { runs } = await open();
      await runs.start(runStart('r1'));
      const first = { changed: true, fingerprint: 'f', git: null };
      await runs.record('r1', 1, { evidence: first });
      await runs.finish('r1', 1, end);
      const publication: Publication = {
        outcome: 'refused',
        branch: 'naïve/漢字\u0000',
        commit: null,
        before: null,
        reason: 'it is "checked out"',
        elsewhere: { branch: null, commit: 'b'.repeat(40) },
      };
      expect(await runs.noteEvidence('r1', { ...first, publication })).toBe(true);
      expect(await runs.read('r1')).toMatchObject({ evidence: { ...first, publication }, finish: end });
      expect(await runs.noteEvidence('no', first)).toBe(false);
    });

    it('records what happened to the workspace of a run, also after its end; the last record counts', async () => {
      const { runs } = await open();
      await runs.start(runStart('r1'));
      const kept = { at: 5, keptBecause: 'the disk is "full"', saved: [] };
      expect(await runs.noteRemoval('r1', kept)).toBe(true);
      await runs.finish('r1', 1, end);
      expect(await runs.read('r1')).toMatchObject({ removal: kept, finish: end });
      const saved = [{ name: 'T-1/r1', files: 3, commits: 2, restore: "baton salvage restore 'T-1/r1'" }];
      const gone = { at: 6, keptBecause: null, saved };
      expect(await runs.noteRemoval('r1', gone)).toBe(true);
      expect((await runs.read('r1'))?.removal).toEqual(gone);
      expect(await runs.noteRemoval('no', gone)).toBe(false);
    });

    it('prunes the oldest finished runs with their events, up to the limit, and none in progress', async () => {
      const { runs, runEvents } = await open();
      for (let index = 0; index < 5; index++) {
        await runs.start(runStart(`r${index}`));
        await runEvents.append(`r${index}`, [{ at: 1, name: 'n', summary: 's' }]);
        if (index < 4) await runs.finish(`r${index}`, 1, { ...end, endedAt: 10 + index });
      }
      expect(await runs.prune(13, 2)).toEqual(['r0', 'r1']);
      expect(await runs.prune(13, 2)).toEqual(['r2']);
      expect(await runs.prune(13, 2)).toEqual([]);
      expect(await runEvents.list('r0', { limit: 9 })).toEqual([]);
      expect((await runs.list(project, { limit: 9 })).map(({ runId }) => runId)).toEqual(['r4', 'r3']);
    });
  });

  onEngine(engine, 'keeps the events of runs', ({ open, place }) => {
    const lines = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ at: from + index, name: 'n', summary: `${from + index}` }));

    it('numbers them from 1 without gaps, and continues reading from any of them', async () => {
      const { runs, runEvents } = await open();
      await runs.start(runStart('r1'));
      await runs.start(runStart('r2'));
      await runEvents.append('r1', lines(1, 3));
      await runEvents.append('r2', lines(1, 1));
      await runEvents.append('r1', []);
      await runEvents.append('r1', lines(4, 1_200));
      const read = await runEvents.list('r1', { limit: 5_000 });
      expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_203 }, (_, index) => index + 1));
      expect(read.every(({ seq, summary }) => summary === `${seq}`)).toBe(true);
      expect(await runEvents.list('r1', { afterSeq: 1_201, limit: 1 })).toEqual([
        { seq: 1_202, at: 1_202, name: 'n', summary: '1202' },
      ]);
    });

    it('leaves no gap when two stores write events of a run at once', async () => {
      const where = await place();
      const [one, two] = [await open(where), await open(where)];
      await one.runs.start(runStart('r1'));
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).runEvents.append('r1', lines(index, 2))),
      );
      const read = await two.runEvents.list('r1', { limit: 100 });
      expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    });

    it('rejects events of an unknown run', async () => {
      const { runEvents } = await open();
      await expect(runEvents.append('no', lines(1, 1))).rejects.toMatchObject({ code: 'store_constraint' });
    });

    it('prunes events of runs that ended long ago, in steps', async () => {
      const { runs, runEvents } = await open();
      for (const runId of ['old', 'live']) {
        await runs.start(runStart(runId));
        await runEvents.append(runId, lines(1, 5));
      }
      await runs.finish('old', 1, { ...end, endedAt: 10 });
      expect(await runEvents.prune(10, 3)).toBe(0);
      expect([await runEvents.prune(11, 3), await runEvents.prune(11, 3), await runEvents.prune(11, 3)]).toEqual([
        3, 2, 0,
      ]);
      expect(await runEvents.list('live', { limit: 9 })).toHaveLength(5);
    });
  });

  onEngine(engine, 'keeps request counts', ({ open }) => {
    const minute = 60_000;
    const noon = Date.UTC(2026, 10, 15, 12);
    const request = (over: Partial<RequestCount>): RequestCount => ({
      provider: 'linear',
      route: '/graphql',
      method: 'POST',
      statusClass: '2xx',
      job: 'poll',
      cause: 'tick',
      at: noon,
      bytes: 100,
      latencyMs: 10.4,
      ...over,
    });

    it('sums requests with the same labels by minute and by day', async () => {
      const { requestCounts } = await open();
      await Promise.all([
        requestCounts.add(request({})),
        requestCounts.add(request({ at: noon + minute - 1 })),
        requestCounts.add(request({ at: noon + minute })),
        requestCounts.add(request({ statusClass: 'error', bytes: 0 })),
        requestCounts.add(request({ provider: 'github', at: noon + 24 * 60 * minute })),
      ]);
      const { at: _, bytes: __, latencyMs: ___, ...labels } = request({});
      const query = { bucket: 'minute', from: noon, to: noon + minute, provider: 'linear' } as const;
      expect(await requestCounts.sum(query)).toEqual([
        { ...labels, count: 2, bytes: 200, latencyMs: 20 },
        { ...labels, statusClass: 'error', count: 1, bytes: 0, latencyMs: 10 },
      ]);
      const day = { bucket: 'day', from: Date.UTC(2026, 10, 15), to: Date.UTC(2026, 10, 17) } as const;
      const sums = await requestCounts.sum(day);
      expect(sums.map(({ provider, count }) => [provider, count])).toEqual([
        ['github', 1],
        ['linear', 3],
        ['linear', 1],
      ]);
      expect(await requestCounts.sum({ ...day, from: noon })).toMatchObject([{ provider: 'github' }]);
    });

    // @conforms octo-6.6
    it('counts each bucket by provider and cause, the earliest first', async () => {
      const { requestCounts } = await open();
      const sent = [
        request({ at: noon + minute }),
        request({ at: noon + 1, cause: 'running' }),
        request({ at: noon + 2, route: '/other', statusClass: 'error' }),
        request({ at: noon + minute - 1 }),
        request({ at: noon, provider: 'github' }),
      ];
      await Promise.all(sent.map((each) => requestCounts.add(each)));
      const { cause } = request({});
      const query = { bucket: 'minute', from: noon, to: noon + 2 * minute } as const;
      const ofLinear = [
        { provider: 'linear', cause: 'running', beginsAt: noon, count: 1 },
        { provider: 'linear', cause, beginsAt: noon, count: 2 },
        { provider: 'linear', cause, beginsAt: noon + minute, count: 1 },
      ];
      expect(await requestCounts.series({ ...query, provider: 'linear' })).toEqual(ofLinear);
      expect(await requestCounts.series(query)).toEqual([
        { provider: 'github', cause, beginsAt: noon, count: 1 },
        ...ofLinear,
      ]);
      // The end is not part of it, and the beginning is.
      expect(await requestCounts.series({ ...query, from: noon + 1, to: noon + minute })).toEqual([]);
      expect(await requestCounts.series({ ...query, from: noon + minute })).toEqual(ofLinear.slice(-1));
      const today = Date.UTC(2026, 10, 15);
      const days = await requestCounts.series({ bucket: 'day', from: today, to: today + 1 });
      expect(days).toMatchObject([
        { beginsAt: today, count: 1 },
        { cause: 'running', count: 1 },
        { cause, count: 3 },
      ]);
    });

    it('prunes minutes, oldest first, up to the limit, and never days', async () => {
      const { requestCounts } = await open();
      for (let index = 0; index < 4; index++) {
        await requestCounts.add(request({ at: noon + index * minute }));
        await requestCounts.add(request({ at: noon + index * minute, cause: 'person' }));
      }
      expect(await requestCounts.prune(noon + 2 * minute, 3)).toBe(3);
      expect(await requestCounts.prune(noon + 2 * minute, 3)).toBe(1);
      expect(await requestCounts.prune(noon + 2 * minute, 3)).toBe(0);
      const left = await requestCounts.sum({ bucket: 'minute', from: 0, to: noon * 2 });
      expect(left.map(({ count }) => count)).toEqual([2, 2]);
      expect((await requestCounts.sum({ bucket: 'day', from: 0, to: noon * 2 }))[0]?.count).toBe(4);
    });
  });

  onEngine(engine, 'keeps usage', ({ open }) => {
    const amount = {
      inputTokens: 1,
      cachedInputTokens: 2,
      outputTokens: 3,
      reasoningTokens: 4,
      totalTokens: 10,
      costMicroUsd: 5,
      runs: 1,
    };
    const twice = {
      inputTokens: 2,
      cachedInputTokens: 4,
      outputTokens: 6,
      reasoningTokens: 8,
      totalTokens: 20,
      costMicroUsd: 10,
      runs: 2,
    };

    it('sums by day and by issue', async () => {
      const { usage } = await open();
      const of = (issueId: string, day: string, role = 'worker') => ({ project, issueId, day, role, ...amount });
      await usage.add(of('i1', '2026-11-14'));
      await usage.add(of('i1', '2026-11-15'));
      await usage.add(of('i2', '2026-11-15', 'judge'));
      await usage.add({ ...of('i1', '2026-11-15'), project: 'beta' });
      expect(await usage.sumByDay(project, { fromDay: '2026-11-14', toDay: '2026-11-15' })).toEqual([
        { day: '2026-11-14', ...amount },
        { day: '2026-11-15', ...twice },
      ]);
      expect(await usage.sumByDay(project, { fromDay: '2026-11-16', toDay: '2026-11-17' })).toEqual([]);
      expect(await usage.sumOfIssue({ project, issueId: 'i1' })).toEqual({ day: null, ...twice });
      expect(await usage.sumOfIssue({ project, issueId: 'no' })).toMatchObject({ day: null, totalTokens: 0, runs: 0 });
    });

    it('loses none of many amounts added at once', async () => {
      const { usage } = await open();
      const one = { project, issueId: 'i1', day: '2026-11-15', role: 'worker', ...amount };
      await Promise.all(Array.from({ length: 20 }, () => usage.add(one)));
      expect(await usage.sumOfIssue({ project, issueId: 'i1' })).toMatchObject({ totalTokens: 200, runs: 20 });
    });
  });
}
