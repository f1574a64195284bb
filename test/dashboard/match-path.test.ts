import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPath } from '../../dashboard/data/page/match-path.ts';

describe('the address of a screen', () => {
  // @conforms dashboard.7
  it('returns every project and identifier that was put into it', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(part, part, (project, id) => {
        const path = `/issue/${encodeURIComponent(project)}/${encodeURIComponent(id)}`;
        expect(matchPath('/issue/:project/:id', path)).toEqual({ project, id });
      }),
    );
  });

  it('does not match if a part is missing, extra or not decodable', () => {
    for (const path of ['/issue/a', '/issue/a/b/c', '/issue//b', '/run/a/b', '/issue/a/%E0%A4%A'])
      expect(matchPath('/issue/:project/:id', path)).toBeNull();
    expect(matchPath('/', '/')).toEqual({});
    expect(matchPath('/board', '/')).toBeNull();
  });
});
