import { describe, expect, it } from 'vitest';
import { nextPage } from './next-page.js';

const ORIGIN = 'https://console.example';

describe('the page after the sign-in', () => {
  it.each(['/', '/gateways', '/sessions/sess_1?tab=codes#first', '/sign-in?next=//other.example'])(
    'is a path of this origin: %s',
    (next) => {
      expect(nextPage(next, ORIGIN)).toBe(next);
    },
  );

  it.each([
    undefined,
    '',
    'gateways',
    'https://console.example/gateways',
    'http://other.example/look-alike',
    '\thttp://other.example/look-alike',
    ' //other.example',
    '//other.example',
    '/\\other.example',
    '/\t/other.example',
    '/\n\\other.example',
    '///other.example',
    '//[',
    '/\\[',
    'javascript:alert(1)',
  ])('is the first one for anything else: %j', (next) => {
    expect(nextPage(next, ORIGIN)).toBe('/');
  });
});
