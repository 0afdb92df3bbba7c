/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why ptrace(2) was refused, and what to do: EPERM has many reasons
 * (ptrace(2), "Ptrace access mode checking"). The reasons are those that
 * racewatch-doctor(1) looks for.
 */
#ifndef DOCTOR_REFUSAL_H
#define DOCTOR_REFUSAL_H

struct error;

/*
 * If err says that tracing was not permitted, or that the process has ended,
 * replace it by the reason, or put the reason before it; otherwise return err
 * unchanged. pid: of an attach, or 0. Takes err over.
 */
struct error *refusal_explain(struct error *err, int pid);

#endif
