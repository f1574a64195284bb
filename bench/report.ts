import os from 'node:os';

/** One figure of a bench. Absolute numbers are those of one machine; the ratio is of two numbers of the same run. */
export interface Figure {
  readonly what: string;
  readonly seen: string;
  /** Null if there is no aim. */
  readonly aim: string | null;
  /** Null if there is nothing to compare with. */
  readonly ratio: string | null;
}

/** Two numbers of the same run, in words. */
export function ratioOf(seen: number, base: number, of: string): string {
  return `${(seen / base).toFixed(2)} times ${of}`;
}

/** The machine, the date and the load. If the load is above the number of cores, other programs dominate the figures. */
export function machine(): string {
  const cpus = os.cpus();
  const load = os.loadavg().map((each) => each.toFixed(1));
  return [
    `${cpus.length} x ${cpus[0]?.model.trim() ?? 'unknown cpu'}`,
    `${Math.round(os.totalmem() / 2 ** 30)} GB`,
    `${os.type()} ${os.release()}`,
    `Node ${process.version}`,
    new Date().toISOString().slice(0, 10),
    `load ${load.join(' ')}`,
  ].join(', ');
}

export function asText(figures: readonly Figure[]): string {
  return figures
    .map(({ what, seen, aim, ratio }) =>
      [`  ${what}: ${seen}`, ...(aim === null ? [] : [`aim ${aim}`]), ...(ratio === null ? [] : [ratio])].join(', '),
    )
    .join('\n');
}

export function asMarkdown(figures: readonly Figure[]): string {
  const row = ({ what, seen, aim, ratio }: Figure): string => `| ${what} | ${seen} | ${aim ?? ''} | ${ratio ?? ''} |`;
  return ['| figure | seen | aim | ratio |', '|---|---|---|---|', ...figures.map(row)].join('\n');
}
