/**
 * The part of the events that a subscriber receives. `full`: every event, and sessions as GET returns them.
 * `reduced_key`: every event, and sessions with the fields that a ticket shows. `reduced`: sessions with these fields,
 * and only events that contain a session. For members of an account over the console: `listed`, every event, and sessions as
 * listings return them; `masked`, the same without people's data.
 */
export type SessionView = 'full' | 'reduced_key' | 'reduced' | 'listed' | 'masked';

/** The rendering of a session for a view. */
export const renderingOf = (view: SessionView): Exclude<SessionView, 'reduced_key'> =>
  view === 'reduced_key' ? 'reduced' : view;
