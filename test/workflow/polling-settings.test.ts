import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jobNames } from '../../src/core/cadence/job-catalogue.ts';
import { given, givenLinear, givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const polling = (text: string) => givenMemory(`polling: ${text}`);
const refused = (text: string) => refusal(() => polling(text));
/** What a refused section finds wrong. */
const problemsOf = (text: string) => problemsIn(refused(text));
const described = (workflow: ReturnType<typeof given>) =>
  Object.fromEntries(workflow.described.map(({ key, value, origin }) => [key, { value, origin }]));

describe('polling.mode', () => {
  // @conforms 1.3
  it('is fixed by default, as a Symphony workflow file expects', () => {
    const { settings, warnings } = polling('{interval_ms: 5000}');
    expect(settings.polling).toEqual({
      mode: 'fixed',
      intervalMs: 5000,
      activeIntervalMs: 15_000,
      idleIntervalMs: 60_000,
      dormantIntervalMs: 300_000,
      idleAfterMs: 600_000,
      dormantAfterMs: 3_600_000,
      quietHours: null,
      timeZone: 'Asia/Tokyo',
      freshnessMs: 1000,
      jobIntervalsMs: {},
      budget: { requestsPerHour: null, requestsPerDay: null },
    });
    expect(warnings).toEqual([]);
  });

  it('reads each number of the mode adaptive from its own key', () => {
    const { settings, warnings } = polling(
      '{mode: adaptive, active_interval_ms: 1, idle_interval_ms: "2", dormant_interval_ms: 3, idle_after_ms: 4, dormant_after_ms: 5}',
    );
    expect(settings.polling).toMatchObject({
      mode: 'adaptive',
      activeIntervalMs: 1,
      idleIntervalMs: 2,
      dormantIntervalMs: 3,
      idleAfterMs: 4,
      dormantAfterMs: 5,
    });
    expect(warnings).toEqual([]);
  });

  it('accepts only the two modes', () => {
    for (const bad of ['Adaptive', 'slow', '""', 'true', '1', '[fixed]'])
      expect(problemsOf(`{mode: ${bad}}`), bad).toMatchObject([
        { key: 'polling.mode', details: { problem: 'wrong_value', allowed: ['fixed', 'adaptive'] } },
      ]);
  });

  it.each(['active_interval_ms', 'idle_interval_ms', 'dormant_interval_ms', 'idle_after_ms', 'dormant_after_ms'])(
    'polling.%s is a whole number above 0',
    (name) => {
      for (const bad of ['0', '-1', '1.5', '"5s"', '.inf', 'off', '[1]'])
        expect(keysIn(refused(`{mode: adaptive, ${name}: ${bad}}`)), bad).toEqual([`polling.${name}`]);
    },
  );

  it('requires dormant_after_ms to be more than idle_after_ms', () => {
    for (const [idle, dormant] of [
      [600_000, 600_000],
      [700_000, 650_000],
    ]) {
      const error = refused(`{mode: adaptive, idle_after_ms: ${idle}, dormant_after_ms: ${dormant}}`);
      expect(problemsIn(error)).toMatchObject([
        {
          key: 'polling.dormant_after_ms',
          details: { problem: 'not_more_than', other: 'polling.idle_after_ms' },
        },
      ]);
      expect(error.message).toMatch(new RegExp(`${idle}.*${dormant}`));
    }
    expect(keysIn(refused('{mode: adaptive, idle_after_ms: 3600000}'))).toEqual(['polling.dormant_after_ms']);
    expect(polling('{mode: adaptive, idle_after_ms: 1, dormant_after_ms: 2}').warnings).toEqual([]);
  });

  it('warns about keys that the mode does not use', () => {
    const ofAdaptive =
      '{active_interval_ms: 1, idle_interval_ms: 2, dormant_interval_ms: 3, idle_after_ms: 4, dormant_after_ms: 5, quiet_hours: 22:00-06:00, time_zone: UTC}';
    expect(polling(ofAdaptive).warnings.map(({ key }) => key)).toEqual([
      'polling.active_interval_ms',
      'polling.idle_interval_ms',
      'polling.idle_after_ms',
      'polling.dormant_after_ms',
      'polling.quiet_hours',
      'polling.time_zone',
    ]);
    expect(polling('{quiet_hours: 22:00-06:00}').warnings).toMatchObject([
      { key: 'polling.quiet_hours', code: 'setting_without_effect', details: { mode: 'adaptive' } },
    ]);
    expect(polling('{mode: adaptive, interval_ms: 5000}').warnings).toMatchObject([
      { key: 'polling.interval_ms', code: 'setting_without_effect', details: { mode: 'fixed' } },
    ]);
  });
});

describe('quiet hours', () => {
  const hours = (text: string) => polling(`{mode: adaptive, quiet_hours: ${text}, time_zone: UTC}`).settings.polling;

  it.each([
    ['00:00-07:00', 0, 420],
    ['"22:00-06:00"', 1320, 360],
    ['22:30-24:00', 1350, 1440],
    ["'23:59-00:00'", 1439, 0],
    ['00:00-23:59', 0, 1439],
  ])('%s is read correctly, quoted or not', (text, fromMinute, toMinute) => {
    expect(hours(text).quietHours).toEqual({ fromMinute, toMinute, timeZone: 'UTC' });
  });

  it.each([
    '07:00-07:00',
    '00:00-00:00',
    '00:00-24:00',
    '24:00-07:00',
    '22:00-24:01',
    '25:00-07:00',
    '22:60-07:00',
    '7:00-8:00',
    '22-6',
    '22:00',
    '"22:00 - 06:00"',
    '"22:00–06:00"',
    '"22:00-06:00\\n"',
    '10pm-6am',
    '2200-0600',
    '"-1:00-06:00"',
    '""',
    '0',
    '-70',
    'true',
    '[22:00-06:00]',
    '{from: 1}',
    '٢٢:٠٠-٠٦:٠٠',
  ])('%s is rejected with the expected form', (text) => {
    const error = refused(`{mode: adaptive, quiet_hours: ${text}}`);
    expect(problemsIn(error)).toMatchObject([
      { key: 'polling.quiet_hours', details: { problem: 'wrong_value', expected: 'quiet_hours' } },
    ]);
    expect(error.message).toContain('22:00-06:00');
  });

  it('use the time zone of the machine if the file names none', () => {
    expect(polling('{mode: adaptive, quiet_hours: 22:00-06:00}').settings.polling.quietHours?.timeZone).toBe(
      'Asia/Tokyo',
    );
  });

  it('keep any two different times and reject equal ones', () => {
    const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    const text = ([h, m]: [number, number]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`;
    fc.assert(
      fc.property(time, time, (from, to) => {
        const written = `${text(from)}-${text(to)}`;
        if (text(from) === text(to)) return void expect(() => hours(written)).toThrow();
        const minutes = ([h, m]: [number, number]) => h * 60 + m;
        expect(hours(written).quietHours).toMatchObject({ fromMinute: minutes(from), toMinute: minutes(to) });
      }),
    );
  });
});

describe('the time zone', () => {
  const zone = (text: string) => polling(`{mode: adaptive, quiet_hours: 22:00-06:00, time_zone: ${text}}`);

  it.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+2', 'Asia/Kolkata', 'Asia/Calcutta'])(
    '%s is kept as written',
    (name) => {
      expect(zone(name).settings.polling.quietHours?.timeZone).toBe(name);
    },
  );

  it.each([
    'Mars/Phobos',
    'Europe/Berlinn',
    'Europe',
    'GMT+2',
    '"+02:00"',
    '"-0500"',
    'local',
    '""',
    '" UTC"',
    '5',
    '[UTC]',
    'Etc/Unknown',
    '"Europe/Berlin\\0"',
  ])('%s is rejected', (name) => {
    const error = refusal(() => zone(name));
    expect(problemsIn(error)).toMatchObject([
      { key: 'polling.time_zone', details: { problem: 'wrong_value', expected: 'time_zone' } },
    ]);
    expect(error.message).toContain('Europe/Berlin');
  });
});

describe('intervals of jobs', () => {
  it('apply to the named jobs', () => {
    const { settings, warnings } = polling(
      '{jobs: {stall_check: {interval_ms: 1000}, workspace_sweep: {interval_ms: "60000"}, queue_health: {}, usage_rollup: }}',
    );
    expect(settings.polling.jobIntervalsMs).toEqual({ stall_check: 1000, workspace_sweep: 60_000 });
    expect(warnings).toEqual([]);
    expect(polling('{jobs: }').settings.polling.jobIntervalsMs).toEqual({});
  });

  it('can be set for every job except the poll', () => {
    for (const job of jobNames.filter((name) => name !== 'tracker_poll'))
      expect(polling(`{jobs: {${job}: {interval_ms: 1234}}}`).settings.polling.jobIntervalsMs).toEqual({ [job]: 1234 });
    const error = refused('{jobs: {tracker_poll: {interval_ms: 5000}}}');
    expect(problemsIn(error)).toMatchObject([
      { key: 'polling.jobs.tracker_poll', details: { problem: 'not_settable' } },
    ]);
    expect(error.message).toMatch(/polling\.mode.*polling\.interval_ms/);
  });

  it('must be whole numbers of at least a second', () => {
    for (const bad of ['999', '0', '-1', '1000.5', '"1s"', 'true', '[5000]', '.inf'])
      expect(problemsOf(`{jobs: {stall_check: {interval_ms: ${bad}}}}`), bad).toMatchObject([
        {
          key: 'polling.jobs.stall_check.interval_ms',
          details: { problem: 'wrong_value', expected: 'job_interval' },
        },
      ]);
  });

  // @conforms cadence.24
  it('for an unknown job are rejected with the nearest job and the list of jobs', () => {
    const settable = jobNames.filter((name) => name !== 'tracker_poll');
    expect(problemsOf('{jobs: {stall_chek: {interval_ms: 5000}}}')).toMatchObject([
      {
        key: 'polling.jobs.stall_chek',
        details: { problem: 'unknown_job', nearest: 'stall_check', allowed: settable },
      },
    ]);
    for (const name of ['zzzzzzzz', '__proto__', 'constructor', 'toString'])
      expect(problemsOf(`{jobs: {${name}: {interval_ms: 5000}}}`)).toMatchObject([
        { key: `polling.jobs.${name}`, details: { problem: 'unknown_job', nearest: null } },
      ]);
  });

  it('are the only setting of a job', () => {
    const details = { problem: 'unknown_key', allowed: ['interval_ms'] };
    expect(problemsOf('{jobs: {stall_check: {interval_ms: 5000, intervall_ms: 1, "on": true}}}')).toMatchObject([
      { key: 'polling.jobs.stall_check.intervall_ms', details },
      { key: 'polling.jobs.stall_check.on', details },
    ]);
  });

  it('without interval_ms, or not written as a map, are rejected by name', () => {
    expect(problemsOf('{jobs: {stall_check: 5000}}')).toMatchObject([
      { key: 'polling.jobs.stall_check', details: { problem: 'wrong_value', expected: 'map' } },
    ]);
    for (const bad of ['5', '[stall_check]', 'fast', 'true'])
      expect(keysIn(refused(`{jobs: ${bad}}`)), bad).toEqual(['polling.jobs']);
  });
});

describe('an interval below a second', () => {
  it('warns for a remote tracker, because the value was probably meant in seconds', () => {
    const linear = (polling: string) =>
      given(`tracker: {kind: linear, api_key: k, project_slug: x}\npolling: ${polling}`).warnings.map(({ key }) => key);
    expect(linear('{interval_ms: 30}')).toContain('polling.interval_ms');
    expect(linear('{interval_ms: 1000}')).not.toContain('polling.interval_ms');
    expect(polling('{interval_ms: 30}').warnings).toEqual([]);
  });
});

describe('the request budget', () => {
  const budget = (text: string) => polling(`{budget: ${text}}`).settings.polling.budget;

  // @conforms requests.17
  it('is one number for all providers, or one per provider', () => {
    expect(budget('{requests_per_hour: 100}')).toEqual({ requestsPerHour: 100, requestsPerDay: null });
    expect(budget('{requests_per_hour: "100", requests_per_day: {linear: 2500}}')).toEqual({
      requestsPerHour: 100,
      requestsPerDay: { linear: 2500 },
    });
    expect(budget('{}')).toEqual({ requestsPerHour: null, requestsPerDay: null });
  });

  it('must be above 0', () => {
    for (const name of ['requests_per_hour', 'requests_per_day']) {
      for (const bad of ['0', '-1', '1.5', 'none', '""', '[5]', 'true', '.inf'])
        expect(problemsOf(`{budget: {${name}: ${bad}}}`), bad).toMatchObject([
          {
            key: `polling.budget.${name}`,
            details: { problem: 'wrong_value', expected: 'request_allowance' },
          },
        ]);
      expect(problemsOf(`{budget: {${name}: {linear: 0, github: 5, "": 7}}}`)).toMatchObject([
        { key: `polling.budget.${name}.linear`, details: { problem: 'wrong_entry' } },
        { key: `polling.budget.${name}`, details: { problem: 'blank_key' } },
      ]);
      expect(keysIn(refused(`{budget: {${name}: {linear: {a: 1}}}}`))).toEqual([`polling.budget.${name}.linear`]);
    }
  });

  it('for an unknown provider is rejected with the nearest name, because it would limit nothing', () => {
    const allowed = ['memory', 'linear', 'board', 'notify', 'github'];
    expect(problemsOf('{budget: {requests_per_day: {linaer: 5, zzzzzzzz: 6, linear: 7}}}')).toMatchObject([
      {
        code: 'unknown_setting',
        key: 'polling.budget.requests_per_day.linaer',
        details: { nearest: 'linear', allowed },
      },
      {
        code: 'unknown_setting',
        key: 'polling.budget.requests_per_day.zzzzzzzz',
        details: { nearest: null, allowed },
      },
    ]);
  });

  it('has no other keys, and must be a map', () => {
    expect(problemsOf('{budget: {requests_per_minute: 5, request_per_day: 6}}')).toMatchObject([
      {
        code: 'unknown_setting',
        key: 'polling.budget.requests_per_minute',
        details: { nearest: 'polling.budget.requests_per_hour' },
      },
      {
        code: 'unknown_setting',
        key: 'polling.budget.request_per_day',
        details: { nearest: 'polling.budget.requests_per_day' },
      },
    ]);
    for (const bad of ['100', '[100]', 'none'])
      expect(keysIn(refused(`{budget: ${bad}}`)), bad).toEqual(['polling.budget']);
    expect(givenMemory('budget: {requests_per_day: 5}').warnings).toMatchObject([
      { code: 'unknown_setting', key: 'budget', details: { nearest: 'polling.budget' } },
    ]);
  });
});

describe('the polling settings in force', () => {
  it('show their values and where each comes from', () => {
    const found = described(
      polling(
        '{mode: adaptive, quiet_hours: 22:00-24:00, jobs: {stall_check: {interval_ms: 2000}}, budget: {requests_per_day: {linear: 5}}}',
      ),
    );
    expect(found).toMatchObject({
      'polling.mode': { value: 'adaptive', origin: 'file' },
      'polling.active_interval_ms': { value: 15_000, origin: 'default' },
      'polling.quiet_hours': { value: '22:00-24:00', origin: 'file' },
      'polling.time_zone': { value: 'Asia/Tokyo', origin: 'default' },
      'polling.jobs.stall_check.interval_ms': { value: 2000, origin: 'file' },
      'polling.jobs.workspace_sweep.interval_ms': { value: 600_000, origin: 'default' },
      'polling.budget.requests_per_hour': { value: null, origin: 'default' },
      'polling.budget.requests_per_day': { value: { linear: 5 }, origin: 'file' },
    });
    expect(found).not.toHaveProperty(['polling.jobs.tracker_poll.interval_ms']);
  });

  it('show the configured time zone, with or without quiet hours', () => {
    const found = described(polling('{mode: adaptive, time_zone: Europe/Berlin}'));
    expect(found['polling.time_zone']).toEqual({ value: 'Europe/Berlin', origin: 'file' });
    expect(found['polling.quiet_hours']).toEqual({ value: null, origin: 'default' });
  });

  it('do not depend on the tracker', () => {
    const text = '{mode: adaptive, quiet_hours: 22:00-06:00}';
    const linear = givenLinear('{api_key: $K, project_slug: p}', { K: 'k' });
    expect(linear.settings.polling).toEqual(givenMemory('').settings.polling);
    expect(given(`tracker: {kind: board}\npolling: ${text}`).settings.polling).toEqual(polling(text).settings.polling);
  });
});
