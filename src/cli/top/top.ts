import { systemClock } from '../../clock/system-clock.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { daemonStatus, type WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { httpSource } from './http-source.ts';
import { runTop } from './run-top.ts';

/** `baton top`: what the daemon of a workflow file is doing, full screen, until a person leaves. */
export async function top(flags: WorkplaceFlags, surroundings: Surroundings): Promise<number> {
  const address = async (): Promise<string | null> => apiIn(await daemonStatus(flags, surroundings));
  const token = surroundings.env.BATON_TOKEN ?? null;
  await runTop(httpSource({ address, token }), surroundings, systemClock);
  return exitCodes.ok;
}

/** Our own daemon made it; one of another version may not have it. */
function apiIn(status: unknown): string | null {
  const { api } = (status ?? {}) as { readonly api?: unknown };
  return typeof api === 'string' ? api : null;
}
