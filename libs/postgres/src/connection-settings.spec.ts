import { describe, expect, it } from 'vitest';
import { connectionSettings } from './connection-settings.js';

describe('the settings of a connection', () => {
  it('keep a plain URL unchanged', () => {
    const url = 'postgres://me:p%40ss@127.0.0.1:5432/countersign?sslmode=require';
    expect(connectionSettings(url, '-c a=b')).toEqual({ connectionString: url, options: '-c a=b' });
  });

  it("join the operator's options with ours, ours last", () => {
    expect(
      connectionSettings('postgres://me:p%40ss@db/countersign?options=-c%20work_mem%3D9MB&sslmode=require', '-c a=b'),
    ).toEqual({
      connectionString: 'postgres://me:p%40ss@db/countersign?sslmode=require',
      options: '-c work_mem=9MB -c a=b',
    });
  });
});
