/** The counters of an issue as the API names them. */
interface RunCounts {
  readonly runs: number;
  readonly failures: number;
  readonly stale_runs: number;
  readonly no_signals: number;
}

/** The counters of an issue that are not zero, for people. A limit may hold the issue for each of them but the last. */
export function runCounts(counts: RunCounts): readonly { readonly name: keyof RunCounts; readonly text: string }[] {
  const { runs, failures, stale_runs: stale, no_signals: noSignals } = counts;
  const all = [
    {
      name: 'runs',
      text: `${runs === 1 ? '1 run' : `${runs} runs`} so far (after a release by a person, Baton counts from 0 again)`,
    },
    { name: 'failures', text: `${failures} failed in a row` },
    { name: 'stale_runs', text: `${stale} in a row changed nothing` },
    { name: 'no_signals', text: `${noSignals} in a row left no result` },
  ] as const;
  return all.filter(({ name }) => counts[name] > 0);
}
