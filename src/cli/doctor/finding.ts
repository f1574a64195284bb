/** One line of the doctor. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The command or the act that mends it; null when all is well. What is ok and has one works, and may not be meant. */
  readonly mend: string | null;
}

export function megabytes(count: number): string {
  return `${count.toLocaleString('en')} MB`;
}

export function well(name: string, detail: string): Finding {
  return { name, ok: true, detail, mend: null };
}

export function doubtful(name: string, detail: string, mend: string): Finding {
  return { name, ok: true, detail, mend };
}

export function ill(name: string, detail: string, mend: string): Finding {
  return { name, ok: false, detail, mend };
}
