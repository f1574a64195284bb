import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** The flag of a descriptor that no child gets, as /proc shows it. */
const closedInChildren = 0o2000000;

/**
 * Closes the descriptors that this process got from the one that started it, other than input, output and errors. Node
 * passes those above 16 on to every child: a file or socket that a shell had open would reach the agents. What Node or
 * Baton opens itself is not passed on. Does nothing where there is no /proc.
 */
export function closeInherited(): void {
  for (const descriptor of listDescriptors()) {
    if (descriptor <= 2 || !isPassedOn(descriptor)) continue;
    try {
      closeSync(descriptor);
    } catch {
      // Gone meanwhile.
    }
  }
}

function listDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & closedInChildren) === 0;
  } catch {
    return false;
  }
}
