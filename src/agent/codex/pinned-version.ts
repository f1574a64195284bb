/**
 * The version of Codex that `protocol.ts` was made from and that the tests with the real binary use. Others work as far as
 * they speak the same protocol: the reader is tolerant, and what is sent is understood by this one.
 */
export const pinnedCodexVersion = '0.166.0';
