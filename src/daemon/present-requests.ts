import type { RemoteView } from './remote.ts';

/** What is known of the requests to a service, as other programs get it: snake case, ISO times. */
export function presentRequests({ provider, pressure, windows }: RemoteView): Record<string, unknown> {
  return {
    provider,
    step: pressure.step,
    text: pressure.text,
    until: iso(pressure.until),
    windows: windows.map(({ name, source, limit, used, resetAt }) => ({
      ...{ name, source, limit, used },
      reset_at: iso(resetAt),
    })),
  };
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
