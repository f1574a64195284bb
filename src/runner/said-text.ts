/** What people said to the agent, as the last part of a prompt; nothing for nobody. It is trusted and stays as it is. */
export function saidText(said: readonly string[]): string[] {
  return said.length === 0 ? [] : [['A person says to you:', ...said].join('\n\n')];
}
