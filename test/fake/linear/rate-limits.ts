/**
 * Linear's two budgets of a credential. Each is a window that starts with its first request and is full again when it
 * ends; Linear itself refills continuously, so a client that waits for the announced end here has waited long enough there.
 */
export interface RateLimits {
  requestsPerWindow: number;
  complexityPerWindow: number;
  windowMs: number;
  /** More in one request is refused whatever is left. */
  complexityPerRequest: number;
  /** Nothing is left until then; afterwards a new window begins by itself. */
  exhaust(resetAt: number): void;
}

export interface RateMeter extends RateLimits {
  /** Takes the cost of a request, or reports that too little is left. */
  take(complexity: number, now: number): 'taken' | 'too_many_requests' | 'too_complex_together';
  /** What every answer announces. */
  headers(now: number): Record<string, string>;
}

/** What Linear announces to a personal key of a small workspace. */
const usual = { requests: 2500, complexity: 3_000_000, windowMs: 3_600_000, complexityPerRequest: 10_000 };

export function createRateMeter(): RateMeter {
  let requests = 0;
  let complexity = 0;
  let endsAt = Number.NEGATIVE_INFINITY;

  const turn = (now: number): void => {
    if (now < endsAt) return;
    requests = 0;
    complexity = 0;
    endsAt = now + meter.windowMs;
  };
  const meter: RateMeter = {
    requestsPerWindow: usual.requests,
    complexityPerWindow: usual.complexity,
    windowMs: usual.windowMs,
    complexityPerRequest: usual.complexityPerRequest,
    exhaust: (resetAt) => {
      requests = meter.requestsPerWindow;
      endsAt = resetAt;
    },
    take: (cost, now) => {
      turn(now);
      if (requests >= meter.requestsPerWindow) return 'too_many_requests';
      if (complexity + cost > meter.complexityPerWindow) return 'too_complex_together';
      requests += 1;
      complexity += cost;
      return 'taken';
    },
    headers: (now) => {
      turn(now);
      return {
        'x-ratelimit-requests-limit': String(meter.requestsPerWindow),
        'x-ratelimit-requests-remaining': String(Math.max(0, meter.requestsPerWindow - requests)),
        'x-ratelimit-requests-reset': String(endsAt),
        'x-ratelimit-complexity-limit': String(meter.complexityPerWindow),
        'x-ratelimit-complexity-remaining': String(Math.max(0, meter.complexityPerWindow - complexity)),
        'x-ratelimit-complexity-reset': String(endsAt),
      };
    },
  };
  return meter;
}
