/** How many tokens had been used at an instant. */
export interface Sample {
  readonly at: number;
  readonly tokens: number;
}

/** So far back it is looked. */
const windowMs = 5_000;

/** Tokens a second over the last five seconds: what came since the oldest sample in them. */
export function throughput(samples: readonly Sample[], { at, tokens }: Sample): number {
  const [first, ...rest] = recent(samples, at);
  if (first === undefined) return 0;
  const oldest = rest.reduce((before, each) => (each.at < before.at ? each : before), first);
  const passedMs = at - oldest.at;
  return passedMs <= 0 ? 0 : (Math.max(0, tokens - oldest.tokens) * 1_000) / passedMs;
}

/** The samples to keep with a new one. A total that falls is that of a new day: what was before says nothing. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const kept = recent(samples, sample.at).filter(({ tokens }) => tokens <= sample.tokens);
  return [...kept, sample];
}

function recent(samples: readonly Sample[], now: number): readonly Sample[] {
  return samples.filter(({ at }) => at >= now - windowMs);
}
