/** How many tokens had been used at an instant. */
export interface Sample {
  readonly at: number;
  readonly tokens: number;
}

const windowMs = 5_000;

/** Tokens per second over the last five seconds, measured from the oldest sample in that time. */
export function throughput(samples: readonly Sample[], { at, tokens }: Sample): number {
  const [oldest] = recent(samples, at).toSorted((left, right) => left.at - right.at);
  if (oldest === undefined || oldest.at >= at) return 0;
  return (Math.max(0, tokens - oldest.tokens) * 1_000) / (at - oldest.at);
}

/** The samples to keep with a new one. A lower total begins a new day, so the samples before it are dropped. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const kept = recent(samples, sample.at).filter(({ tokens }) => tokens <= sample.tokens);
  return [...kept, sample];
}

function recent(samples: readonly Sample[], now: number): readonly Sample[] {
  return samples.filter(({ at }) => at >= now - windowMs);
}
