export const exitCodes = { ok: 0, error: 1, usage: 2 } as const;
