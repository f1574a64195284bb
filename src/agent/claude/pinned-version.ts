/**
 * The version of Claude Code whose messages Baton was built for and which the tests with the real binary use. Other
 * versions work as far as they speak the same protocol: Baton reads tolerantly, and sends what this version
 * understands.
 */
export const pinnedClaudeVersion = '2.1.325';
