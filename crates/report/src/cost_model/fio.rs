//! A job file that asks of a drive with fio what was measured here, state by state.

use writecliff_suite::Plan as AnyPlan;
use writecliff_suite::cost_model::{Coefficient, FILL, SETTLE};

use super::{Model, ModelError, ModelFormat};

pub(super) const FORMAT: ModelFormat = ModelFormat {
    name: "fio",
    what: "a job file that asks the same of the drive with fio, and DESTROYS what is on it",
    write,
};

fn write(model: &Model<'_>) -> Result<String, ModelError> {
    let AnyPlan::CostModel(plan) = &model.record.plan else {
        unreachable!("the outcome is of this test");
    };
    let settle = model.record.phases.iter().find(|phase| phase.name == SETTLE);
    let settle = settle.ok_or(ModelError::Unfinished)?;
    let seconds = |nanos: u64| nanos.div_ceil(1_000_000_000).max(1);
    let span = plan.span.map_or_else(String::new, |span| format!("size={}\n", span.0));
    let mut text = format!(
        "{}# It DESTROYS all data on the drive that it is run on: DRIVE=/dev/… fio this-file.fio\n\
         # Purge the drive before. Then it is filled, and written at random as long as it took here to become\n\
         # steady; each rate stands above its job.\n\
         [global]\nfilename=${{DRIVE}}\nioengine=libaio\ndirect=1\nrandrepeat=0\nnorandommap=1\ngroup_reporting=1\n{span}\n\
         [{}]\nrw=write\nbs=128k\niodepth=32\n\n\
         [{}]\nstonewall\nrw=randwrite\nbs={}\niodepth={}\ntime_based=1\nruntime={}s\n",
        model.preamble("fio job file"),
        FILL,
        SETTLE,
        plan.block.0,
        plan.queue_depth,
        seconds(settle.length.0),
    );
    for one in Coefficient::AS_MEASURED_HERE {
        let (block, depth) = match one.counts_bytes() {
            true => (plan.transfer, plan.transfer_queue_depth),
            false => (plan.block, plan.queue_depth),
        };
        let how = match one {
            Coefficient::Rbps | Coefficient::Rseqiops => "read",
            Coefficient::Rrandiops => "randread",
            Coefficient::Wbps | Coefficient::Wseqiops => "write",
            Coefficient::Wrandiops => "randwrite",
        };
        let unit = if one.counts_bytes() { "bytes a second" } else { "a second" };
        text += &format!(
            "\n# {}: {:.0} {unit}\n[{}]\nstonewall\nrw={how}\nbs={}\niodepth={depth}\ntime_based=1\nruntime={}s\n",
            one.words(),
            model.steady.get(one),
            one.name(),
            block.0,
            seconds(plan.measurement.0),
        );
    }
    if let Some(limits) = &model.outcome.limits
        && let Some(kept) = model.outcome.rungs.iter().find(|rung| rung.percent == limits.percent)
    {
        text += &format!(
            "\n# What the drive keeps: {} % of the reads within {} us, of the writes within {} us\n",
            limits.percentile,
            limits.read.0.div_ceil(1000),
            limits.write.0.div_ceil(1000),
        );
        for (name, how, of, wall) in [
            ("kept-reads", "randread", kept.reads, "stonewall\n"),
            ("kept-writes", "randwrite", kept.writes, ""),
        ] {
            text += &format!(
                "[{name}]\n{wall}new_group\nrw={how}\nbs={}\niodepth={}\nrate_iops={}\nrate_process=poisson\n\
                 time_based=1\nruntime={}s\n",
                plan.block.0,
                plan.queue_depth,
                of.asked_iops,
                seconds(plan.measurement.0),
            );
        }
    }
    Ok(text)
}
