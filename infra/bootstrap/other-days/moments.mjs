/**
 * When, where and in which language the tests run. `crosses`: the clock is set again before the tests of each file, a
 * little before `at`, so that each of them sees that moment pass. `short`: one of the few that meet most between them,
 * all days of the week among it.
 */
export const MOMENTS = [
  { name: 'monday', at: '2027-01-04T05:00:00Z', zone: 'UTC', locale: 'C', short: true },
  { name: 'tuesday', at: '2027-06-01T13:00:00Z', zone: 'Pacific/Apia', locale: 'de_DE.UTF-8' },
  { name: 'wednesday', at: '2027-06-30T23:30:00Z', zone: 'America/St_Johns', locale: 'tr_TR.UTF-8' },
  { name: 'thursday', at: '2027-09-30T11:00:00Z', zone: 'UTC', locale: 'ar_EG.UTF-8' },
  { name: 'friday', at: '2027-12-31T12:00:00Z', zone: 'Pacific/Apia', locale: 'tr_TR.UTF-8' },
  { name: 'saturday', at: '2028-01-01T02:00:00Z', zone: 'America/St_Johns', locale: 'th_TH.UTF-8' },
  { name: 'sunday', at: '2027-02-28T12:00:00Z', zone: 'Europe/Berlin', locale: 'de_DE.UTF-8' },
  // Thursday begins.
  {
    name: 'midnight',
    at: '2027-03-11T00:00:00Z',
    zone: 'UTC',
    locale: 'ar_EG.UTF-8',
    crosses: true,
    short: true,
  },
  {
    name: 'midnight-apia',
    at: '2027-08-15T11:00:00Z',
    zone: 'Pacific/Apia',
    locale: 'th_TH.UTF-8',
    crosses: true,
  },
  // Friday ends.
  {
    name: 'month-end',
    at: '2027-05-01T00:00:00Z',
    zone: 'Pacific/Apia',
    locale: 'th_TH.UTF-8',
    crosses: true,
    short: true,
  },
  {
    name: 'year-end',
    at: '2028-01-01T00:00:00Z',
    zone: 'America/St_Johns',
    locale: 'tr_TR.UTF-8',
    crosses: true,
    short: true,
  },
  { name: 'leap-day', at: '2028-02-29T00:00:00Z', zone: 'Pacific/Apia', locale: 'C', crosses: true },
  // Tuesday ends.
  {
    name: 'leap-day-end',
    at: '2028-03-01T00:00:00Z',
    zone: 'America/St_Johns',
    locale: 'de_DE.UTF-8',
    crosses: true,
    short: true,
  },
  // Sundays.
  {
    name: 'berlin-spring',
    at: '2027-03-28T01:00:00Z',
    zone: 'Europe/Berlin',
    locale: 'de_DE.UTF-8',
    crosses: true,
    short: true,
  },
  {
    name: 'berlin-autumn',
    at: '2027-10-31T01:00:00Z',
    zone: 'Europe/Berlin',
    locale: 'C',
    crosses: true,
    short: true,
  },
  {
    name: 'new-york-spring',
    at: '2027-03-14T07:00:00Z',
    zone: 'America/New_York',
    locale: 'tr_TR.UTF-8',
    crosses: true,
    short: true,
  },
  {
    name: 'new-york-autumn',
    at: '2027-11-07T06:00:00Z',
    zone: 'America/New_York',
    locale: 'C',
    crosses: true,
  },
];
