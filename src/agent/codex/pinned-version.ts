/**
 * The version of Codex from which `protocol.ts` was generated and which the tests with the real binary use. Other
 * versions work as far as they speak the same protocol: Baton reads tolerantly, and sends what this version
 * understands.
 */
export const pinnedCodexVersion = '0.166.0';
