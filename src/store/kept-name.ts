import type { Clock } from '../clock/clock.ts';

/** The name under which a store is kept that a restore takes the place of. */
export function keptName(file: string, clock: Clock): string {
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
  return `${file}.before-restore-${time}`;
}
