import { systemClock } from '../../clock/system-clock.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { daemonStatus, type WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { httpSource } from './http-source.ts';
import { runTop } from './run-top.ts';

/** `baton top`: what the daemon of a workflow file is doing, full screen, until the user leaves. */
export async function top(flags: WorkplaceFlags, surroundings: Surroundings): Promise<number> {
  const address = async (): Promise<string | null> => (await daemonStatus(flags, surroundings))?.api ?? null;
  const token = surroundings.env.BATON_TOKEN ?? null;
  await runTop(httpSource({ address, token }), surroundings, systemClock);
  return exitCodes.ok;
}
