import { describe, expect, it } from 'vitest';
import { AllowedMethods } from './allowed-methods.js';

describe('the methods of a path', () => {
  const allowed = new AllowedMethods();
  allowed.learn('/v1/verify', ['POST']);
  allowed.learn('/v1/verify/:id', ['GET']);
  allowed.learn('/v1/verify/:id', ['HEAD', 'DELETE']);
  allowed.learn('/v1/verify/:id/check', ['POST']);
  allowed.learn('/v1/openapi.json', ['GET']);

  it.each<[string, string[]]>([
    ['/v1/verify', ['POST']],
    ['/v1/verify/sess_1', ['DELETE', 'GET', 'HEAD']],
    ['/v1/verify/sess_1/check', ['POST']],
    ['/v1/openapi.json', ['GET']],
    ['/v1/openapiXjson', []],
    ['/v1/verify/', []],
    ['/v1/verify/a/b/c', []],
    ['/v1', []],
    ['/', []],
  ])('%s has %j', (path, methods) => {
    expect(allowed.of(path)).toEqual(methods);
  });
});
