import { SetMetadata } from '@nestjs/common';

/** A step of the stop. Its phases follow one another; the methods of one phase run at the same time. */
export interface StopStep {
  readonly name: string;
  /** The time limit of the step, in milliseconds. */
  readonly deadlineMs: number;
  readonly phases: readonly string[];
}

export const START = Symbol('start phase');
export const STOP = Symbol('stop phase');

export interface PhaseDecorators<Start extends string, Stop extends string> {
  /** The start runs this method of the provider in this phase, and waits for it. */
  readonly OnStart: (phase: Start) => MethodDecorator;
  /** The stop runs this method of the provider in this phase, and waits for it. */
  readonly OnStop: (phase: Stop) => MethodDecorator;
}

/** The decorators by which the providers of an app declare its phases. A method has one phase of the start and one of the stop at most. */
export const phaseDecorators = <Start extends string, Stop extends string>(): PhaseDecorators<Start, Stop> => ({
  OnStart: (phase) => SetMetadata(START, phase),
  OnStop: (phase) => SetMetadata(STOP, phase),
});
