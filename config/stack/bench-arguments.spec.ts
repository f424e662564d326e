import { describe, expect, it } from 'vitest';
import { parseBenchArguments } from './bench-arguments.mjs';

describe('without --against', () => {
  it('takes the sections that are named, each once; none means all', () => {
    expect(parseBenchArguments([])).toEqual({ sections: [], against: undefined, pairs: 10, profile: false });
    expect(parseBenchArguments(['create', 'soak', 'create']).sections).toEqual(['create', 'soak']);
  });

  it('refuses pairs', () => {
    expect(() => parseBenchArguments(['--pairs', '3'])).toThrow('--pairs needs --against');
  });
});

describe('with --against', () => {
  it('takes options before, between and after the sections', () => {
    const wanted = { sections: ['create', 'inbound'], against: 'v1.2', pairs: 3, profile: false };
    expect(parseBenchArguments(['--against', 'v1.2', 'create', 'inbound', '--pairs', '3'])).toEqual(wanted);
    expect(parseBenchArguments(['create', '--pairs', '3', '--against', 'v1.2', 'inbound'])).toEqual(wanted);
  });

  it('compares create and inbound unless sections are named', () => {
    expect(parseBenchArguments(['--against', 'HEAD']).sections).toEqual(['create', 'inbound']);
  });

  it('compares create and inbound at half load when they are named', () => {
    const words = ['--against', 'HEAD', 'create-half', 'inbound-half'];
    expect(parseBenchArguments(words).sections).toEqual(['create-half', 'inbound-half']);
    expect(() => parseBenchArguments(['create-half'])).toThrow('create-half is not a section');
  });

  it('refuses sections that need more than the public interfaces of a build', () => {
    expect(() => parseBenchArguments(['--against', 'HEAD', 'usage'])).toThrow('usage has no --against');
  });

  it.each(['0', '-1', '1.5', 'ten', '1e2', '1001'])('refuses --pairs %s', (pairs) => {
    expect(() => parseBenchArguments(['--against', 'HEAD', '--pairs', pairs])).toThrow('--pairs');
  });
});

describe('with --profile', () => {
  it('takes one section', () => {
    const wanted = { sections: ['poll'], against: undefined, pairs: 10, profile: true };
    expect(parseBenchArguments(['--profile', 'poll'])).toEqual(wanted);
    expect(() => parseBenchArguments(['--profile', 'poll', 'create'])).toThrow('--profile takes one section');
    expect(() => parseBenchArguments(['--profile'])).toThrow('--profile needs a value');
  });

  it('refuses sections in which no process of the product knows the measured time, and two versions', () => {
    expect(() => parseBenchArguments(['--profile', 'realtime'])).toThrow('realtime has no --profile');
    expect(() => parseBenchArguments(['--profile', 'creat'])).toThrow('creat is not a section');
    expect(() => parseBenchArguments(['--profile', 'poll', '--against', 'HEAD'])).toThrow('cannot be combined');
  });
});

it.each([['creat'], ['--agianst', 'HEAD'], ['--against'], ['--against', '--pairs', '3'], ['--against', '']])(
  'refuses %s %s and shows the usage',
  (...words) => {
    expect(() => parseBenchArguments(words)).toThrow('npm run bench -- --against <commit>');
  },
);
